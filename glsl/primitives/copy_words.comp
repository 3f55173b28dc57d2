#version 460
// Copies 32-bit words from one buffer to another: a measure of memory bandwidth, since nothing else takes
// time. A driver's own copy may be slower than the memory.
//
// A thread copies WORDS_PER_THREAD words, WORKGROUP_SIZE apart: loads are coalesced, and several are in
// flight. Bytes: 8 a word. Order-independent.
// Elements: from = threads * WORDS_PER_THREAD, to = threads * WORDS_PER_THREAD.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(constant_id = 1) const uint WORDS_PER_THREAD = 8;

layout(scalar, binding = 0) readonly buffer From { uint from[]; };
layout(scalar, binding = 1) writeonly buffer To { uint to[]; };
layout(scalar, push_constant) uniform Params { uint n_words; };

void main() {
    uint first = group_idx() * WORKGROUP_SIZE * WORDS_PER_THREAD + gl_LocalInvocationIndex;
    [[unroll]] for (uint k = 0u; k < WORDS_PER_THREAD; ++k) {
        uint i = first + k * WORKGROUP_SIZE;
        if (i < n_words) to[i] = from[i];
    }
}
