#version 460
// Marks, for each occupied block and each step of its reach, the blocks that it must list: is_own[o · 2^D +
// s].
//
// A block that several occupied ones reach is marked once. Bytes: 4 a thread, and a search in the list of
// occupied blocks for each lower step. Order-independent.
// Elements: is_own = threads << DIMENSIONS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 8;
layout(constant_id = 2) const uint DIMENSIONS = 3;
#include "sparse/blocks.glsl"

layout(scalar, binding = 0) readonly buffer OccupiedCount { uint occupied_count[]; };
layout(scalar, binding = 1) readonly buffer Occupied { uint occupied[]; };
layout(scalar, binding = 2) writeonly buffer Own { uint is_own[]; };
layout(scalar, push_constant) uniform Params { BlockLattice lattice; };

#include "sparse/find_block.glsl"

void main() {
    uint o = thread_idx() / THREADS_PER_ITEM;
    uint s = thread_idx() % THREADS_PER_ITEM;
    if (o >= occupied_count[0]) return;
    uvec3 block = block_place(lattice, occupied[o]) + reach_step(s);
    uint owner;
    bool own = all(lessThan(block, lattice.blocks)) && lowest_step(lattice, block, s, owner) == BLOCK_REACH;
    is_own[o * BLOCK_REACH + s] = own ? 1u : 0u;
}
