#version 460
// Smooths distances of a surface along one axis by the narrow-range filter (Truong2018): a Gaussian mean over
// pixels that come in pairs, one on either side.
//
// - If one of a pair is nearer than the narrow range around this pixel, it shows another surface in front,
//   and neither counts; otherwise the mean would lean away from that surface. Nor do they where the image
//   ends.
// - Pixels farther than the range, or without a surface, count as if they were a little behind this pixel, so
//   that silhouettes curve away from the eye.
// - All others count as they are, and widen the range for the pairs farther out, so that slopes count whole.
//
// Pixels without a surface stay without.
// Bytes: 8 a pixel, and up to 32 neighbours from caches. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "render/depth_filter.glsl"

layout(scalar, binding = 0) readonly buffer Distance { float distance_m[]; };
layout(scalar, binding = 1) writeonly buffer Smoothed { float smoothed_m[]; };

// Returns the distance of a pixel; beyond the image one that is too near for its pair to count.
float distance_at(ivec2 there) {
    ivec2 size = ivec2(width, height);
    if (any(lessThan(there, ivec2(0))) || any(greaterThanEqual(there, size))) return -NO_SURFACE;
    return distance_m[there.y * size.x + there.x];
}

void main() {
    uint i = thread_idx();
    if (i >= width * height) return;
    float z = distance_m[i];
    smoothed_m[i] = z;
    if (!shows_surface(z)) return;
    ivec2 at = ivec2(i % width, i / width);
    ivec2 along = axis == 0u ? ivec2(1, 0) : ivec2(0, 1);
    float reach = radius_px(z);
    int n = tap_count(reach);
    float sum = 0.0, weights = 1.0;
    precise float nearest = z - range, farthest = z + range;
    [[dont_unroll]] for (int tap = 1; tap <= n; ++tap) {
        int offset = tap_offset(tap, n, reach);
        float a = distance_at(at - offset * along), b = distance_at(at + offset * along);
        if (min(a, b) < nearest) continue;
        float weight = tap_weight(offset, reach);
        bool is_near_a = a <= farthest, is_near_b = b <= farthest;
        sum += weight * ((is_near_a ? a - z : step_back) + (is_near_b ? b - z : step_back));
        weights += 2.0 * weight;
        if (is_near_a) {
            nearest = min(nearest, a - range);
            farthest = max(farthest, a + range);
        }
        if (is_near_b) {
            nearest = min(nearest, b - range);
            farthest = max(farthest, b + range);
        }
    }
    smoothed_m[i] = z + sum / weights;
}
