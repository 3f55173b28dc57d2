#version 460
// Smooths distances of a surface along one axis by a bilateral filter (Huang2016 eq 3.1): a weighted mean
// whose weights fall with the distance in the image and with the difference in depth.
//
// The weight is the product of both Gaussians, as in any bilateral filter; eq 3.2 prints their sum, with
// which near pixels of any depth, and pixels of equal depth anywhere, would count fully. Pixels without a
// surface do not count, and stay without. Bytes: 8 a pixel, and up to 32 neighbours from caches.
// Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "render/depth_filter.glsl"

layout(scalar, binding = 0) readonly buffer Distance { float distance_m[]; };
layout(scalar, binding = 1) writeonly buffer Smoothed { float smoothed_m[]; };

void main() {
    uint i = thread_idx();
    if (i >= width * height) return;
    float z = distance_m[i];
    smoothed_m[i] = z;
    if (!shows_surface(z)) return;
    ivec2 at = ivec2(i % width, i / width);
    ivec2 size = ivec2(width, height);
    ivec2 along = axis == 0u ? ivec2(1, 0) : ivec2(0, 1);
    float reach = radius_px(z);
    int n = tap_count(reach);
    float sum = 0.0, weights = 1.0;
    [[dont_unroll]] for (int tap = 1; tap <= n; ++tap) {
        int offset = tap_offset(tap, n, reach);
        float near = tap_weight(offset, reach);
        [[dont_unroll]] for (int side = -1; side <= 1; side += 2) {
            ivec2 there = at + side * offset * along;
            if (any(lessThan(there, ivec2(0))) || any(greaterThanEqual(there, size))) continue;
            float difference = distance_m[there.y * size.x + there.x] - z;
            float u = difference / range;
            float weight = near * exp(-0.5 * u * u);
            // Without a surface the weight is 0, and so would be the product but for an overflow.
            if (weight > 0.0) {
                sum += weight * difference;
                weights += weight;
            }
        }
    }
    smoothed_m[i] = z + sum / weights;
}
