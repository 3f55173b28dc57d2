// Shared part of both scatter kernels of the radix sort: sorting the digits of a tile, and moving its keys.
//
// A tile's keys are sorted by the pass's digit in shared memory, as words of (digit, index in the tile), four
// bits at a time. Equal digits are then consecutive: the start and end of their run give their count, and
// keys are written to memory in coalesced runs.

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 16;

#include "primitives/nibble_sort.glsl"

// Start and end of the run of each digit in the sorted tile.
shared uint digit_begin[DIGITS];
shared uint digit_end[DIGITS];
// Offset from a key's index in the sorted tile to its index in the sorted array.
shared uint digit_shift[DIGITS];

uint nibble_of(uint word, uint nibble_shift) { return word >> (16u + nibble_shift) & 15u; }

// Sorts the digits of the keys from `begin` on. Indices past the last key get the largest digit and stay
// after all keys.
void sort_tile(uint begin, uint n, uint shift, uint mask) {
    uint lane = gl_LocalInvocationIndex;
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        uint digit = begin + place < n ? digit_of(begin + place, shift, mask) : DIGITS - 1u;
        set_tile_word(place, digit << 16u | place);
    }
    for (uint digit = lane; digit < DIGITS; digit += WORKGROUP_SIZE) {
        digit_begin[digit] = 0u;
        digit_end[digit] = 0u;
    }
    barrier();
    // Bound: the nibbles of a digit.
    [[dont_unroll]] for (uint nibble = 0u; nibble == 0u || mask >> nibble != 0u; nibble += 4u)
        sort_by_nibble(nibble);
    uint keys_in_tile = min(n - begin, TILE);
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        if (place >= keys_in_tile) break;
        uint digit = tile_word(place) >> 16u;
        if (place == 0u || tile_word(place - 1u) >> 16u != digit) digit_begin[digit] = place;
        if (place + 1u == keys_in_tile || tile_word(place + 1u) >> 16u != digit)
            digit_end[digit] = place + 1u;
    }
    barrier();
}

// Moves the tile's keys and their payload, once digit_shift is known.
void move_tile(uint begin, uint n) {
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (place >= n - begin) break;
        uint word = tile_word(place);
        uint from = begin + (word & 0xffffu);
        uint to = digit_shift[word >> 16u] + place;
        for (uint w = 0u; w < KEY_WORDS; ++w) sorted_keys[KEY_WORDS * to + w] = keys[KEY_WORDS * from + w];
        if (payload_kind == PAYLOAD_GIVEN) sorted_payload[to] = payload[from];
        if (payload_kind == PAYLOAD_INDEX) sorted_payload[to] = from;
    }
}
