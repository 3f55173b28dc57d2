#version 460
// Runs a whole radix-sort pass in one sweep: each key moves to its new index, keys of equal digits in their
// old order.
//
// Adinets & Merrill, Onesweep (2022): the tiles' digit counts are scanned by decoupled look-back, digit by
// digit, within the pass that moves the keys. Each thread looks back for its own digits; a tile that does not
// answer is counted again by the whole group, so that no group depends on the scheduling of another one. A
// count and its flag share a word: up to 2^30 − 1 keys.
// Layout of look_back: for each pass, a ticket and a word for each digit of each tile, zeroed before.
// Bytes: 8 a word of key or payload, 2048 a tile. Order-independent.
// Elements: keys = threads * KEY_WORDS, sorted_keys = threads * KEY_WORDS.
// Elements: payload = threads * payload_kind * (2 - payload_kind).
// Elements: sorted_payload = threads * (payload_kind / 2).
// Elements: bases = DIGITS, look_back = DIGITS * (threads / (WORKGROUP_SIZE * ITEMS_PER_THREAD)).
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/length.glsl"
#include "primitives/workgroup_scan.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Keys { uint keys[]; };
layout(scalar, binding = 2) readonly buffer Payload { uint payload[]; };
layout(scalar, binding = 3) readonly buffer Bases { uint bases[]; };
layout(scalar, binding = 4) coherent buffer LookBack { uint look_back[]; };
layout(scalar, binding = 5) writeonly buffer SortedKeys { uint sorted_keys[]; };
layout(scalar, binding = 6) writeonly buffer SortedPayload { uint sorted_payload[]; };
layout(scalar, push_constant) uniform Params {
    uint shift;
    uint mask;
    uint payload_kind;
    // Row of `bases` of the pass, and its part of `look_back`.
    uint first_base;
    uint first_word;
};

#include "primitives/tickets.glsl"
#include "primitives/radix.glsl"
#include "primitives/radix_tile.glsl"

// Number of keys of each digit in the tiles visited by look-back, and the next tile to visit, plus one.
shared uint looked_sum[DIGITS];
shared uint looked_next[DIGITS];
// Tile that did not answer, plus one.
shared uint blocked;

uint word_of(uint tile, uint digit) { return first_word + 1u + tile * DIGITS + digit; }

// Adds up the counts of a digit in earlier tiles until one knows its whole prefix, or one does not answer.
void look_back_for(uint digit) {
    uint next = looked_next[digit];
    uint sum = looked_sum[digit];
    uint spins = 0u;
    // Bound: SPINS for each of the tiles before.
    while (next != 0u) {
        uint word = atomicOr(look_back[word_of(next - 1u, digit)], 0u);
        if ((word & FLAG_BITS) == NOT_READY) {
            if (++spins < SPINS) continue;
            atomicMax(blocked, next);
            break;
        }
        spins = 0u;
        sum += word & ~FLAG_BITS;
        next = (word & FLAG_BITS) == INCLUSIVE_SUM ? 0u : next - 1u;
    }
    looked_next[digit] = next;
    looked_sum[digit] = sum;
}

// Counts a tile's digits again, in place of its own group.
void count_tile(uint tile, uint n) {
    uint lane = gl_LocalInvocationIndex;
    for (uint digit = lane; digit < DIGITS; digit += WORKGROUP_SIZE) digit_shift[digit] = 0u;
    barrier();
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = tile * TILE + item * WORKGROUP_SIZE + lane;
        if (i < n) atomicAdd(digit_shift[digit_of(i, shift, mask)], 1u);
    }
    barrier();
    for (uint digit = lane; digit < DIGITS; digit += WORKGROUP_SIZE) {
        atomicMax(look_back[word_of(tile, digit)], AGGREGATE | digit_shift[digit]);
    }
    barrier();
}

void main() {
    uint n = count[0];
    uint lane = gl_LocalInvocationIndex;
    uint tile = take_ticket(first_word);
    uint begin = tile * TILE;
    // The whole group returns together: a folded dispatch may hold groups past the last tile.
    if (begin >= n) return;
    sort_tile(begin, n, shift, mask);
    bool publishes = !is_withheld(tile);
    for (uint digit = lane; digit < DIGITS; digit += WORKGROUP_SIZE) {
        uint own = digit_end[digit] - digit_begin[digit];
        if (publishes)
            atomicMax(look_back[word_of(tile, digit)], (tile == 0u ? INCLUSIVE_SUM : AGGREGATE) | own);
        looked_next[digit] = tile;
        looked_sum[digit] = 0u;
    }
    // Bound: the number of tiles: each turn counts one that does not answer.
    for (;;) {
        if (lane == 0u) blocked = 0u;
        barrier();
        for (uint digit = lane; digit < DIGITS; digit += WORKGROUP_SIZE) look_back_for(digit);
        barrier();
        uint blocking = blocked;
        barrier();
        if (blocking == 0u) break;
        count_tile(blocking - 1u, n);
    }
    for (uint digit = lane; digit < DIGITS; digit += WORKGROUP_SIZE) {
        uint own = digit_end[digit] - digit_begin[digit];
        if (publishes && tile != 0u)
            atomicMax(look_back[word_of(tile, digit)], INCLUSIVE_SUM | (looked_sum[digit] + own));
        digit_shift[digit] = bases[first_base + digit] + looked_sum[digit] - digit_begin[digit];
    }
    barrier();
    move_tile(begin, n);
}
