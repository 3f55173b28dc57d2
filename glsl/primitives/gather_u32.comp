#version 460
// Moves one column of particles to a new order: moved[i] = column[order[i]], for i below count[0].
//
// An element is WORDS 32-bit words (a vec3 is 3), so one kernel serves every column type. Writes are
// coalesced; reads are as scattered as the order, which is nearly the identity when particles move less than
// a cell a step. Bytes: 4 + 8 · WORDS a particle. Order-independent.
// Elements: column = threads * WORDS, moved = threads * WORDS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(constant_id = 1) const uint WORDS = 1;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) readonly buffer Source { uint column[]; };
layout(scalar, binding = 3) writeonly buffer Moved { uint moved[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint from = order[i];
    [[unroll]] for (uint word = 0u; word < WORDS; ++word)
        moved[WORDS * i + word] = column[WORDS * from + word];
}
