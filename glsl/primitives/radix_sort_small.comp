#version 460
// Sorts an array that fits one workgroup, in place and in a single dispatch: four bits per round, in shared
// memory.
//
// Shared memory holds only the original index of each key; keys are read from cache.
// Bytes: 8 a word of key or payload. Order-independent.
// Elements: keys = count * KEY_WORDS, payload = count * (payload_kind / 2).
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/workgroup_scan.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) buffer Keys { uint keys[]; };
layout(scalar, binding = 2) buffer Payload { uint payload[]; };
layout(scalar, push_constant) uniform Params {
    uint begin_bit;
    uint end_bit;
    uint payload_kind;
};

#include "primitives/radix.glsl"
#include "primitives/nibble_sort.glsl"

// Indices past the last key get the largest nibble and stay after all keys.
uint nibble_of(uint from, uint shift) {
    return from < count[0] ? digit_of(from, shift, (1u << min(4u, end_bit - shift)) - 1u) : 15u;
}

void main() {
    uint n = count[0];
    uint lane = gl_LocalInvocationIndex;
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        set_tile_word(item * WORKGROUP_SIZE + lane, item * WORKGROUP_SIZE + lane);
    }
    barrier();
    for (uint shift = begin_bit; shift < end_bit; shift += 4u) sort_by_nibble(shift);
    // All are read before any is written.
    uint key[2u * ITEMS_PER_THREAD];
    uint value[ITEMS_PER_THREAD];
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint from = tile_word(item * WORKGROUP_SIZE + lane);
        if (from >= n) continue;
        for (uint w = 0u; w < KEY_WORDS; ++w) key[KEY_WORDS * item + w] = keys[KEY_WORDS * from + w];
        value[item] = payload_kind == PAYLOAD_GIVEN ? payload[from] : from;
    }
    memoryBarrierBuffer();
    barrier();
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint to = item * WORKGROUP_SIZE + lane;
        if (to >= n) continue;
        for (uint w = 0u; w < KEY_WORDS; ++w) keys[KEY_WORDS * to + w] = key[KEY_WORDS * item + w];
        if (payload_kind != PAYLOAD_NONE) payload[to] = value[item];
    }
}
