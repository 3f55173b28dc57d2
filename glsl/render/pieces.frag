#version 460
// The fragment stage shades flat faces of ice, slightly glossy; each piece has its own shade, so that
// neighbours are distinguishable.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/pieces.glsl"

layout(location = 0) in vec3 from_eye;
layout(location = 1) flat in vec3 outwards;
layout(location = 2) flat in uint piece_idx;
layout(location = 0) out vec4 pixel;

const float ICE_WRAP = 0.15;
// Maximum difference of shades.
const float SPREAD = 0.10;

void main() {
    float shade = float((piece_idx * 2654435769u) >> 24u) / 255.0;
    vec3 own = color * (1.0 - SPREAD * shade);
    vec3 shown = sunlit(own, outwards, axis_vector(up_axis), to_sun, ICE_WRAP);
    float shine = pow(max(dot(outwards, normalize(to_sun + toward_viewer(view, from_eye))), 0.0), 60.0);
    shown = to_display(to_linear(shown) + 0.35 * shine);
    pixel = vec4(fogged(shown, fog, length(from_eye)), 1.0);
}
