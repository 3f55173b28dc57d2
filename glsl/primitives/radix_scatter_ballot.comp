#version 460
// Moves each key to its new index, keys of equal digits in their old order: the second half of a radix-sort
// pass without look-back, with ranks by ballots of subgroups.
//
// Bytes: 8 a word of key or payload. Order-independent.
// Elements: keys = threads * KEY_WORDS, sorted_keys = threads * KEY_WORDS.
// Elements: payload = threads * payload_kind * (2 - payload_kind).
// Elements: sorted_payload = threads * (payload_kind / 2).
// Elements: digit_places = DIGITS * (threads / (WORKGROUP_SIZE * ITEMS_PER_THREAD)).
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/length.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Keys { uint keys[]; };
layout(scalar, binding = 2) readonly buffer Payload { uint payload[]; };
// Scan of radix_count's digit counts.
layout(scalar, binding = 3) readonly buffer DigitPlaces { uint digit_places[]; };
layout(scalar, binding = 4) writeonly buffer SortedKeys { uint sorted_keys[]; };
layout(scalar, binding = 5) writeonly buffer SortedPayload { uint sorted_payload[]; };
layout(scalar, push_constant) uniform Params {
    uint shift;
    uint mask;
    uint payload_kind;
};

#include "primitives/radix.glsl"
#include "primitives/radix_ballot_tile.glsl"

void main() {
    uint n = count[0];
    uint begin = group_idx() * TILE;
    // The whole group returns together: a folded dispatch may hold groups past the last tile.
    if (begin >= n) return;
    count_digits(begin, n, shift, mask);
    rank_keys(begin, n, shift, mask);
    uint tiles = ceil_div(n, TILE);
    [[unroll]] for (uint k = 0u; k < DIGITS_PER_THREAD; ++k) {
        uint digit = gl_LocalInvocationIndex * DIGITS_PER_THREAD + k;
        if (digit < DIGITS) digit_shift[digit] = digit_places[digit * tiles + group_idx()] - digit_begin[k];
    }
    barrier();
    move_tile(begin, n, shift, mask);
}
