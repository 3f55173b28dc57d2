#version 460
// The fragment stage leaves pixels without powder as they are, to the bit.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/light_terms.glsl"
#include "render/powder_light.glsl"
#include "render/powder_sums.glsl"

layout(scalar, binding = 0) readonly buffer Sums { vec4 sums[]; };
layout(scalar, binding = 1) readonly buffer SceneColor { uint scene_color[]; };
layout(scalar, binding = 2) readonly buffer Light { LightTerms light_terms[]; };
#include "render/sunlit.glsl"

layout(location = 0) out vec4 pixel;

void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    uvec2 place = at / per_axis;
    vec4 sum = sums[place.y * sums_width + place.x];
    if (sum.x <= 0.0) discard;
    vec3 mean = sum.yzw / sum.x;
    vec3 light = mix(GROUNDLIGHT, SKYLIGHT, mean.y) + mean.x * SUNLIGHT;
    // Powder has no normal: half of its surfaces face any light.
    for (uint i = 0u; i < light_terms[0].n_lights; ++i) light += 0.5 * light_terms[0].light_color[i];
    vec3 shown = mix(to_linear(fog.color), to_linear(color) * light, mean.z);
    vec3 behind = to_linear(unpackUnorm4x8(scene_color[at.y * width + at.x]).rgb);
    pixel = vec4(to_display(mix(shown, behind, exp(-sum.x / float(QUANTA)))), 1.0);
}
