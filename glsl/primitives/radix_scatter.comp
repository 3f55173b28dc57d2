#version 460
// Second half of a radix-sort pass: each key and its payload go to their place, keys of equal digits in the order they came.
//
// A thread takes ITEMS_PER_THREAD consecutive keys and counts their digits in a column of its own; the scan of those
// counters, digit by digit and thread by thread, is the stable rank within the tile. No atomics and no subgroup operations:
// the ranks are the same on every device. Digits d and d + 8 share a word, 16 bits each: a tile holds fewer keys than 65 536,
// and a group of 512 threads then fits the 32 KiB of shared memory that a device may have.
// Bytes: 16 a key (8 in, 8 out), 12 in a pass that makes its own payload. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/length.glsl"
#include "primitives/workgroup_scan.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;
// 1: the payload is the key's own index, and the payload buffer is not read.
layout(constant_id = 2) const uint INDEX_AS_PAYLOAD = 0;

const uint DIGITS = 16;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Keys { uint keys[]; };
layout(scalar, binding = 2) readonly buffer Payload { uint payload[]; };
layout(scalar, binding = 3) readonly buffer Place { uint place[]; };
layout(scalar, binding = 4) writeonly buffer SortedKeys { uint sorted_keys[]; };
layout(scalar, binding = 5) writeonly buffer SortedPayload { uint sorted_payload[]; };
layout(scalar, push_constant) uniform Params {
    uint shift;
    uint mask;
};

const uint HALF = DIGITS / 2u;

// counters[(digit mod 8) · WORKGROUP_SIZE + thread], digits below 8 in the low half.
shared uint counters[HALF * WORKGROUP_SIZE];
shared uint digit_begin[DIGITS];

uint counter_of(uint digit, uint lane) { return (digit % HALF) * WORKGROUP_SIZE + lane; }
uint half_shift(uint digit) { return digit < HALF ? 0u : 16u; }

void main() {
    uint n = count[0];
    uint lane = gl_LocalInvocationIndex;
    uint tile_size = WORKGROUP_SIZE * ITEMS_PER_THREAD;
    uint tiles = ceil_div(n, tile_size);
    uint begin = group_idx() * tile_size + lane * ITEMS_PER_THREAD;

    for (uint digit = 0u; digit < HALF; ++digit) counters[counter_of(digit, lane)] = 0u;
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        if (begin + item >= n) break;
        uint digit = (keys[begin + item] >> shift) & mask;
        counters[counter_of(digit, lane)] += 1u << half_shift(digit);
    }
    barrier();

    // Each thread scans HALF consecutive words, between them all of them; both halves at once, neither can overflow.
    uint own = 0u;
    for (uint k = 0u; k < HALF; ++k) own += counters[lane * HALF + k];
    uvec2 before_and_all = workgroup_exclusive_scan(own);
    // Digits from 8 on come after all those below.
    uint before = before_and_all.x + (before_and_all.y << 16u);
    for (uint k = 0u; k < HALF; ++k) {
        uint value = counters[lane * HALF + k];
        counters[lane * HALF + k] = before;
        before += value;
    }
    barrier();
    if (lane < DIGITS) digit_begin[lane] = (counters[counter_of(lane, 0u)] >> half_shift(lane)) & 0xffffu;
    barrier();

    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = begin + item;
        if (i >= n) break;
        uint key = keys[i];
        uint digit = (key >> shift) & mask;
        uint word = counters[counter_of(digit, lane)];
        counters[counter_of(digit, lane)] = word + (1u << half_shift(digit));
        uint rank = (word >> half_shift(digit)) & 0xffffu;
        uint to = place[digit * tiles + group_idx()] + rank - digit_begin[digit];
        sorted_keys[to] = key;
        sorted_payload[to] = INDEX_AS_PAYLOAD != 0u ? i : payload[i];
    }
}
