#version 460
// Runs a whole radix-sort pass in one sweep, like radix_scatter_look_back, with ranks by ballots of
// subgroups: each key moves to its new index, keys of equal digits in their old order.
//
// A tile publishes its digit counts before it ranks its keys, and looks back after that. Each thread looks
// back for its own digits, by relaxed loads; a tile that does not answer is counted again by the whole group,
// so that no group depends on the scheduling of another one. A count and its flag share a word: up to
// 2^30 − 1 keys.
// Barriers of a tile: 7, 2 more for a second word of keys and 2 for a payload; radix_scatter_look_back has
// 37.
// Layout of look_back: for each pass, a ticket and a word for each digit of each tile, zeroed before.
// Bytes: 8 a word of key or payload, 2048 a tile. Order-independent.
// Elements: keys = threads * KEY_WORDS, sorted_keys = threads * KEY_WORDS.
// Elements: payload = threads * payload_kind * (2 - payload_kind).
// Elements: sorted_payload = threads * (payload_kind / 2).
// Elements: bases = DIGITS, look_back = DIGITS * (threads / (WORKGROUP_SIZE * ITEMS_PER_THREAD)).
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require
#include "common/kernel.glsl"

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
#include "primitives/radix_ballot_tile.glsl"

// Of this thread's digits: the number of keys in the tiles visited by look-back, and the next tile to visit,
// plus one.
uint looked_sum[DIGITS_PER_THREAD];
uint looked_next[DIGITS_PER_THREAD];
// Tile that did not answer, plus one.
shared uint blocked;

uint word_of(uint tile, uint digit) { return first_word + 1u + tile * DIGITS + digit; }

// Adds up the counts of this thread's k-th digit in earlier tiles until one knows its whole prefix, or one
// does not answer. Returns true if the sum is complete.
bool look_back_for(uint k, uint digit) {
    uint next = looked_next[k];
    uint sum = looked_sum[k];
    uint spins = 0u;
    // Bound: SPINS for each of the tiles before.
    while (next != 0u) {
        uint word = atomicLoad(look_back[word_of(next - 1u, digit)], gl_ScopeDevice, 0, 0);
        if ((word & FLAG_BITS) == NOT_READY) {
            if (++spins < SPINS) continue;
            atomicMax(blocked, next);
            break;
        }
        spins = 0u;
        sum += word & ~FLAG_BITS;
        next = (word & FLAG_BITS) == INCLUSIVE_SUM ? 0u : next - 1u;
    }
    looked_next[k] = next;
    looked_sum[k] = sum;
    return next == 0u;
}

// Counts a tile's digits again, in place of its own group. To be called after a barrier after the last use of
// `exchange` and of `blocked`; ends with a barrier.
void count_tile(uint tile, uint n) {
    uint lane = gl_LocalInvocationIndex;
    if (lane == 0u) blocked = 0u;
    for (uint digit = lane; digit < DIGITS; digit += WORKGROUP_SIZE) exchange[digit] = 0u;
    barrier();
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = tile * TILE + item * WORKGROUP_SIZE + lane;
        if (i < n) atomicAdd(exchange[digit_of(i, shift, mask)], 1u);
    }
    barrier();
    for (uint digit = lane; digit < DIGITS; digit += WORKGROUP_SIZE) {
        atomicMax(look_back[word_of(tile, digit)], AGGREGATE | exchange[digit]);
    }
    barrier();
}

void main() {
    uint n = count[0];
    uint lane = gl_LocalInvocationIndex;
    if (lane == 0u) blocked = 0u;
    uint tile = take_ticket(first_word);
    uint begin = tile * TILE;
    // The whole group returns together: a folded dispatch may hold groups past the last tile.
    if (begin >= n) return;
    count_digits(begin, n, shift, mask);
    bool publishes = !is_withheld(tile);
    [[unroll]] for (uint k = 0u; k < DIGITS_PER_THREAD; ++k) {
        uint digit = lane * DIGITS_PER_THREAD + k;
        looked_sum[k] = 0u;
        looked_next[k] = digit < DIGITS ? tile : 0u;
        if (publishes && digit < DIGITS) {
            uint flag = tile == 0u ? INCLUSIVE_SUM : AGGREGATE;
            atomicMax(look_back[word_of(tile, digit)], flag | digit_count[k]);
        }
    }
    rank_keys(begin, n, shift, mask);
    bool is_complete = false;
    // Bound: the number of tiles: each turn counts one that does not answer.
    for (;;) {
        if (!is_complete) {
            is_complete = true;
            [[unroll]] for (uint k = 0u; k < DIGITS_PER_THREAD; ++k) {
                uint digit = lane * DIGITS_PER_THREAD + k;
                if (digit >= DIGITS) continue;
                if (!look_back_for(k, digit)) {
                    is_complete = false;
                    continue;
                }
                uint end = looked_sum[k] + digit_count[k];
                if (publishes && tile != 0u) atomicMax(look_back[word_of(tile, digit)], INCLUSIVE_SUM | end);
                digit_shift[digit] = bases[first_base + digit] + looked_sum[k] - digit_begin[k];
            }
        }
        barrier();
        uint blocking = blocked;
        if (blocking == 0u) break;
        barrier();
        count_tile(blocking - 1u, n);
    }
    move_tile(begin, n, shift, mask);
}
