#version 460
// Converts the fixed-point sums of rasterize_fixed into masses, momenta and forces. Bytes: 56 read and 28
// written a node. Order-independent.
// Elements: sums = threads * THREADS_PER_ITEM * 14, momentum = threads * THREADS_PER_ITEM.
// Elements: force = threads * THREADS_PER_ITEM.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
#include "mpm/terms.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Sums { uint sums[]; };
layout(scalar, binding = 3) writeonly buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 4) writeonly buffer Force { vec3 force[]; };

float quanta(uint number) {
    uint low = sums[2u * number];
    uint high = sums[2u * number + 1u];
    bool negative = high >= 0x80000000u;
    // The magnitude first: −1 is all ones, and as two floats it would be the difference of two large numbers.
    if (negative) {
        low = ~low + 1u;
        high = ~high + (low == 0u ? 1u : 0u);
    }
    float magnitude = float(high) * 4294967296.0 + float(low);
    return negative ? -magnitude : magnitude;
}

void main() {
    if (thread_idx() / THREADS_PER_ITEM >= active_count[0]) return;
    uint node = thread_idx();
    MpmTerms t = terms[0];
    vec3 p = vec3(quanta(7u * node + 1u), quanta(7u * node + 2u), quanta(7u * node + 3u));
    vec3 impulse = vec3(quanta(7u * node + 4u), quanta(7u * node + 5u), quanta(7u * node + 6u));
    momentum[node] = vec4(t.momentum_quantum * p, t.mass_quantum * quanta(7u * node));
    force[node] = t.momentum_quantum / t.dt_s * impulse;
}
