#version 460
// Computes x ← factor · x + addend, 16 · ROUNDS times, for twelve numbers per thread that begin at start[i],
// start[i] + 1 …, and writes their sum: a measure of arithmetic throughput, since nothing else takes time.
// The twelve do not depend on each other, so that a unit whose result takes some cycles is kept busy.
//
// Integers below 2^24 make every result exact, fused or not; with the factor 1, of which the compiler does
// not know, the sum tells how often the operation was done.
//
// Bytes: 8 a thread. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

// Rounds of UNROLLED operations.
layout(constant_id = 1) const uint ROUNDS = 256;

// Operations of a round.
const uint UNROLLED = 16;
// Numbers of a thread.
const uint CHAINS = 12;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Start { float start[]; };
layout(scalar, binding = 2) writeonly buffer Total { float total[]; };
layout(scalar, push_constant) uniform Params {
    float factor;
    float addend;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec4 m = vec4(factor);
    vec4 c = vec4(addend);
    vec4 a = start[i] + vec4(0.0, 1.0, 2.0, 3.0);
    vec4 b = a + 4.0;
    vec4 d = a + 8.0;
    [[dont_unroll]] for (uint round = 0u; round < ROUNDS; ++round) {
        [[unroll]] for (uint k = 0u; k < UNROLLED; ++k) {
            a = fma(m, a, c);
            b = fma(m, b, c);
            d = fma(m, d, c);
        }
    }
    vec4 sum = a + b + d;
    total[i] = (sum.x + sum.y) + (sum.z + sum.w);
}
