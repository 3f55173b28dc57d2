#version 460
// Links blocks of cubes with their own nodes: node_block[h] is the index, in the caller's list, of the block
// of nodes of stored block h of cubes; for blocks without nodes it stays INVALID_INDEX.
//
// Bytes: 8 a block of nodes, and a look-up of the bits. Order-independent, since each block is in the
// caller's list once.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
const uint DIMENSIONS = 3u;

layout(scalar, binding = 0) readonly buffer BlockCount { uint block_count[]; };
layout(scalar, binding = 1) readonly buffer Block { uint block[]; };
layout(scalar, binding = 2) readonly buffer CubeBlockCount { uint cube_block_count[]; };
layout(scalar, binding = 3) readonly buffer Marked { uint marked[]; };
layout(scalar, binding = 4) readonly buffer WordBase { uint word_base[]; };
layout(scalar, binding = 5) writeonly buffer NodeBlock { uint node_block[]; };

#include "surface/find_cube_block.glsl"

layout(scalar, push_constant) uniform Params { BlockLattice lattice; };

void main() {
    uint a = thread_idx();
    if (a >= block_count[0]) return;
    uint h = find_cube_block(lattice, ivec3(block_place(lattice, block[a])));
    if (h != INVALID_INDEX) node_block[h] = a;
}
