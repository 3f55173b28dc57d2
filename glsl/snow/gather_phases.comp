#version 460
// Moves one column of a phase to its new order: moved[i] = own[source[i]], or other[source[i] − CAPACITY] for
// a particle from the other phase. This pass both migrates and permutes a column.
//
// An element is WORDS 32-bit words. Bytes: 4 + 8 · WORDS a particle. Order-independent.
// Elements: own = threads * WORDS, other = 0, moved = threads * WORDS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(constant_id = 1) const uint WORDS = 1;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Source { uint source[]; };
layout(scalar, binding = 2) readonly buffer Own { uint own[]; };
layout(scalar, binding = 3) readonly buffer Other { uint other[]; };
layout(scalar, binding = 4) writeonly buffer Moved { uint moved[]; };
layout(scalar, push_constant) uniform Params { uint capacity; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint from = source[i];
    bool is_own = from < capacity;
    uint at = WORDS * (is_own ? from : from - capacity);
    [[unroll]] for (uint word = 0u; word < WORDS; ++word) moved[WORDS * i + word] = is_own ? own[at + word] : other[at + word];
}
