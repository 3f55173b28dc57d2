#version 460
// Smooths the thickness of a fluid along one axis: a Gaussian mean over pixels that show the fluid, so that
// what is refracted does not show single particles.
//
// Pixels without fluid, or with something opaque before it, do not count and stay as they are: the fluid does
// not thin out beside what hides it. Bytes: 12 a pixel, and up to 32 neighbours from caches.
// Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "render/depth_filter.glsl"

layout(scalar, binding = 0) readonly buffer Distance { float distance_m[]; };
layout(scalar, binding = 1) readonly buffer Thickness { float thickness_m[]; };
layout(scalar, binding = 2) writeonly buffer Smoothed { float smoothed_m[]; };

void main() {
    uint i = thread_idx();
    if (i >= width * height) return;
    float z = distance_m[i], thickness = thickness_m[i];
    smoothed_m[i] = thickness;
    if (!shows_surface(z) || thickness <= 0.0) return;
    ivec2 at = ivec2(i % width, i / width);
    ivec2 size = ivec2(width, height);
    ivec2 along = axis == 0u ? ivec2(1, 0) : ivec2(0, 1);
    float reach = radius_px(z);
    int n = tap_count(reach);
    float sum = thickness, weights = 1.0;
    [[dont_unroll]] for (int tap = 1; tap <= n; ++tap) {
        int offset = tap_offset(tap, n, reach);
        float weight = tap_weight(offset, reach);
        [[dont_unroll]] for (int side = -1; side <= 1; side += 2) {
            ivec2 there = at + side * offset * along;
            if (any(lessThan(there, ivec2(0))) || any(greaterThanEqual(there, size))) continue;
            float other = thickness_m[there.y * size.x + there.x];
            if (other <= 0.0) continue;
            sum += weight * other;
            weights += weight;
        }
    }
    smoothed_m[i] = sum / weights;
}
