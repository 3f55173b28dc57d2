#version 460
// Lists the numbers of the marked blocks of cubes, ascending, and initialises the nodes of each to none.
//
// `word_base` is the exclusive scan of the number of marks per word. Blocks past the capacity are left out;
// settle_blocks counts them.
// Bytes: 8 a word of 32 blocks of the lattice, 8 a marked block. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
const uint DIMENSIONS = 3u;
#include "surface/lattice.glsl"

layout(scalar, binding = 0) readonly buffer WordCount { uint word_count[]; };
layout(scalar, binding = 1) readonly buffer Marked { uint marked[]; };
layout(scalar, binding = 2) readonly buffer WordBase { uint word_base[]; };
layout(scalar, binding = 3) writeonly buffer CubeBlock { uint cube_block[]; };
layout(scalar, binding = 4) writeonly buffer NodeBlock { uint node_block[]; };
layout(scalar, push_constant) uniform Params { uint capacity; };

void main() {
    uint w = thread_idx();
    if (w >= word_count[0]) return;
    uint bits = marked[w];
    uint place = word_base[w];
    // Bound: 32, the bits of a word.
    [[dont_unroll]] while (bits != 0u && place < capacity) {
        cube_block[place] = w * BITS + findLSB(bits);
        node_block[place] = INVALID_INDEX;
        bits &= bits - 1u;
        ++place;
    }
}
