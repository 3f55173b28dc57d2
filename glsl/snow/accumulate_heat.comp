#version 460
// Accumulates the particles that leave a phase: their number, and the sum of their temperatures, which gives
// the heat that appears or vanishes where a particle's heat capacity jumps (the paper's variant has no latent
// heat).
//
// Temperatures are summed as integers of 2⁻¹⁶ °C in 64 bits, so that the sum is exact and does not depend on
// the order of atomics. transition_counts: particles, low and high word of the sum. Bytes: 4 a particle, 4
// more one that leaves. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Leaves { uint leaves[]; };
layout(scalar, binding = 2) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 3) buffer TransitionCounts { uint transition_counts[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0] || leaves[i] == 0u) return;
    atomicAdd(transition_counts[0], 1u);
    int fixed_c = int(roundEven(clamp(temperature[i], -32767.0, 32767.0) * 65536.0));
    uint low = uint(fixed_c);
    uint carry = atomicAdd(transition_counts[1], low) > 0xffffffffu - low ? 1u : 0u;
    // Sign extension, and the carry out of the low word.
    uint high = (fixed_c < 0 ? 0xffffffffu : 0u) + carry;
    if (high != 0u) atomicAdd(transition_counts[2], high);
}
