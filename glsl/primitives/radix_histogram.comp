#version 460
// Counts each digit in the whole array, for all passes of a radix sort at once: passes only permute the keys.
//
// Layout: histogram[pass · 256 + digit], zeroed before; pass p takes DIGIT_BITS bits from begin_bit + 8p, the
// last one up to end_bit.
// Bytes: 4 a word of key. Order-independent: counts are integers.
// Elements: keys = threads * KEY_WORDS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 32;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Keys { uint keys[]; };
layout(scalar, binding = 2) buffer Histogram { uint histogram[]; };
layout(scalar, push_constant) uniform Params {
    uint begin_bit;
    uint end_bit;
};

#include "primitives/radix.glsl"

shared uint tallies[4u * KEY_WORDS * DIGITS];

void main() {
    uint n = count[0];
    uint lane = gl_LocalInvocationIndex;
    uint passes = (end_bit - begin_bit + DIGIT_BITS - 1u) / DIGIT_BITS;
    for (uint k = lane; k < passes * DIGITS; k += WORKGROUP_SIZE) tallies[k] = 0u;
    barrier();
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = (group_idx() * ITEMS_PER_THREAD + item) * WORKGROUP_SIZE + lane;
        if (i >= n) break;
        for (uint pass = 0u; pass < passes; ++pass) {
            uint shift = begin_bit + pass * DIGIT_BITS;
            uint mask = (1u << min(DIGIT_BITS, end_bit - shift)) - 1u;
            atomicAdd(tallies[pass * DIGITS + digit_of(i, shift, mask)], 1u);
        }
    }
    barrier();
    for (uint k = lane; k < passes * DIGITS; k += WORKGROUP_SIZE) {
        if (tallies[k] != 0u) atomicAdd(histogram[k], tallies[k]);
    }
}
