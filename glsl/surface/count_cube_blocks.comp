#version 460
// Counts the marked blocks of cubes in each word of bits.
//
// Bytes: 8 a word, which represents 32 blocks of the lattice. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer WordCount { uint word_count[]; };
layout(scalar, binding = 1) readonly buffer Marked { uint marked[]; };
layout(scalar, binding = 2) writeonly buffer InWord { uint in_word[]; };

void main() {
    uint w = thread_idx();
    if (w >= word_count[0]) return;
    in_word[w] = bitCount(marked[w]);
}
