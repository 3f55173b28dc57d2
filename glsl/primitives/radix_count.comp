#version 460
// Counts each of the 256 digits in each tile: the first half of a radix-sort pass without look-back.
//
// Layout: digit_counts[digit · tiles + tile], so that its scan gives every tile the index of its first key of
// a digit.
// Bytes: 4 a word of key, 1024 a tile. Order-independent: counts are integers.
// Elements: keys = threads * KEY_WORDS.
// Elements: digit_counts = DIGITS * (threads / (WORKGROUP_SIZE * ITEMS_PER_THREAD)).
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/length.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 16;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Keys { uint keys[]; };
layout(scalar, binding = 2) writeonly buffer DigitCounts { uint digit_counts[]; };
layout(scalar, push_constant) uniform Params {
    uint shift;
    uint mask;
};

#include "primitives/radix.glsl"

shared uint histogram[DIGITS];

void main() {
    uint n = count[0];
    uint lane = gl_LocalInvocationIndex;
    uint tile_size = WORKGROUP_SIZE * ITEMS_PER_THREAD;
    uint tiles = ceil_div(n, tile_size);
    for (uint digit = lane; digit < DIGITS; digit += WORKGROUP_SIZE) histogram[digit] = 0u;
    barrier();
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = group_idx() * tile_size + item * WORKGROUP_SIZE + lane;
        if (i < n) atomicAdd(histogram[digit_of(i, shift, mask)], 1u);
    }
    barrier();
    // A folded dispatch may hold groups past the last tile.
    if (group_idx() >= tiles) return;
    for (uint digit = lane; digit < DIGITS; digit += WORKGROUP_SIZE) {
        digit_counts[digit * tiles + group_idx()] = histogram[digit];
    }
}
