#version 460
// The fragment stage samples depth along a spiral and returns black with the obscurance as its alpha, for
// blending over the image.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#include "render/occlusion.glsl"

layout(scalar, binding = 0) readonly buffer Depth { float depth[]; };
layout(location = 0) out vec4 pixel;

const uint SAMPLES = 14u;
const float GOLDEN_ANGLE = 2.39996323;

// Returns the drawn point at a pixel, relative to the eye, in the camera's axes (x right, y down, z forward).
// Pixels past the border repeat it; where nothing was drawn z is infinite, by division by zero, and fails the
// comparisons below. Without perspective it is relative to the target, and where nothing was drawn z is
// beyond the range of the comparisons.
vec3 point_at(ivec2 at) {
    at = clamp(at, ivec2(0), ivec2(width, height) - 1);
    float d = depth[at.y * int(width) + at.x];
    vec2 ndc = (vec2(at) + 0.5) / vec2(width, height) * 2.0 - 1.0;
    if (depth_reach > 0.0) return vec3(ndc * half_extent, (1.0 - 2.0 * d) * depth_reach);
    float z = near / d;
    return vec3(ndc * half_extent * z, z);
}

// Returns the slope along one axis of the image, from the neighbour that is nearer in depth: the other may
// lie past an edge.
vec3 slope(vec3 here, ivec2 at, ivec2 step) {
    vec3 after = point_at(at + step) - here, before = here - point_at(at - step);
    return abs(after.z) < abs(before.z) ? after : before;
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    pixel = vec4(0.0);
    if (depth[at.y * int(width) + at.x] == 0.0) return;
    vec3 here = point_at(at);
    vec3 normal = normalize(cross(slope(here, at, ivec2(0, 1)), slope(here, at, ivec2(1, 0))));
    float half_height = half_extent.y * (depth_reach > 0.0 ? 1.0 : here.z);
    float reach_px = clamp(reach / half_height * 0.5 * float(height), 2.0, 0.1 * float(height));
    // Rotating the spiral from pixel to pixel replaces bands by fine noise (interleaved gradient noise,
    // Jimenez 2014).
    float turn = 6.2831853 * fract(52.9829189 * fract(dot(vec2(at), vec2(0.06711056, 0.00583715))));
    float obscurance = 0.0;
    for (uint i = 0u; i < SAMPLES; ++i) {
        float along = (float(i) + 0.5) / float(SAMPLES);
        float angle = turn + GOLDEN_ANGLE * float(i);
        vec3 v = point_at(at + ivec2(round(along * reach_px * vec2(cos(angle), sin(angle))))) - here;
        float squared = dot(v, v);
        // A point farther than twice the reach belongs to another object.
        if (squared < 4.0 * reach * reach) {
            obscurance += max(0.0, dot(v, normal) - 0.02 * reach) / (squared + 0.01 * reach * reach);
        }
    }
    pixel.a = clamp(strength * reach * obscurance / float(SAMPLES), 0.0, 0.85);
}
