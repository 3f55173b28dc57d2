#version 460
// The fragment stage reads packed RGBA8 pixels, red in the lowest byte. Light is averaged in linear values,
// approximated by squares: at edges the difference from the sRGB curve is invisible, and they need no powers.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#include "render/resolve.glsl"

layout(scalar, binding = 0) readonly buffer Fine { uint fine[]; };
layout(location = 0) out vec4 pixel;

void main() {
    uvec2 first = uvec2(gl_FragCoord.xy) * per_axis;
    vec3 sum = vec3(0.0);
    for (uint y = 0u; y < per_axis; ++y) {
        for (uint x = 0u; x < per_axis; ++x) {
            vec3 encoded = unpackUnorm4x8(fine[(first.y + y) * fine_width + first.x + x]).rgb;
            sum += encoded * encoded;
        }
    }
    pixel = vec4(sqrt(sum / float(per_axis * per_axis)), 1.0);
}
