#version 460
// The fragment stage shades flat faces of ice, slightly glossy; each piece has its own shade, so that
// neighbours are distinguishable.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/light_terms.glsl"
#include "render/pieces.glsl"

layout(scalar, binding = 5) readonly buffer Light { LightTerms light_terms[]; };
layout(scalar, binding = 6) readonly buffer OpaqueShadow { float opaque_shadow[]; };
layout(scalar, binding = 7) readonly buffer FluidShadow { float fluid_shadow[]; };
#include "render/sun_shadow.glsl"
#include "render/sunlit.glsl"

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
    vec3 to_sun = light_terms[0].to_sun;
    float arriving = sunlight(view, from_eye, outwards, 0.0);
    vec3 shown = sunlit(own, outwards, axis_vector(up_axis), ICE_WRAP, arriving);
    float shine = pow(max(dot(outwards, normalize(to_sun + toward_viewer(view, from_eye))), 0.0), 60.0);
    shown = to_display(to_linear(shown) + 0.35 * arriving * shine);
    pixel = vec4(fogged(shown, fog, length(from_eye)), 1.0);
}
