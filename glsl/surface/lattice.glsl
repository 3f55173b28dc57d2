// Blocks of 4³ cubes. A cube is identified by its lowest node, and lies in that node's block.
//
// A cube may contain surface if one of its corners is a node of a list of blocks: those blocks, and the ones
// a step below them, which may be one below the lattice. So blocks of cubes are numbered on a lattice that
// begins one block lower. A bit says if a block is stored; its index in the list of stored ones is the number
// of set bits before.
#include "sparse/blocks.glsl"

const uint BITS = 32u;

uvec3 cube_block_extent(BlockLattice lattice) { return lattice.blocks + 1u; }

uint cube_block_number(BlockLattice lattice, ivec3 block) {
    uvec3 extent = cube_block_extent(lattice);
    uvec3 at = uvec3(block + 1);
    return (at.z * extent.y + at.y) * extent.x + at.x;
}

ivec3 cube_block_place(BlockLattice lattice, uint number) {
    uvec3 extent = cube_block_extent(lattice);
    uint rows = number / extent.x;
    return ivec3(number % extent.x, rows % extent.y, rows / extent.y) - 1;
}

// Side of a block, signed for nodes that may be below zero.
const int SIDE = int(BLOCK_SIDE);

// Block of a node, and index of the node in it; shifts and masks round towards lower numbers.
ivec3 block_of_node(ivec3 node) { return node >> 2; }
uint place_of_node(ivec3 node) { return node_number(uvec3(node & (SIDE - 1))); }
