#version 460
// Lists the active blocks, and links each occupied block with the active ones of its reach in both
// directions.
//
// target[o · 2^D + s] is the index in the active list of the block at step s of occupied block o; source[a ·
// 2^D + s] is the index in the occupied list of the block that reaches active block a by step s, or
// INVALID_INDEX. The row of targets after the last is INVALID_INDEX, for particles whose block exceeded the
// capacity of the list. `rank` is the exclusive scan of `is_own`. Bytes: 12 a thread, 4 + 4 · 2^D an active
// block, and searches in the list of occupied blocks. Order-independent.
// Elements: is_own = threads << DIMENSIONS, rank = threads << DIMENSIONS.
// Elements: target = threads << DIMENSIONS, source = threads << DIMENSIONS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 8;
layout(constant_id = 2) const uint DIMENSIONS = 3;
#include "sparse/blocks.glsl"

layout(scalar, binding = 0) readonly buffer OccupiedCount { uint occupied_count[]; };
layout(scalar, binding = 1) readonly buffer Occupied { uint occupied[]; };
layout(scalar, binding = 2) readonly buffer Own { uint is_own[]; };
layout(scalar, binding = 3) readonly buffer Rank { uint rank[]; };
layout(scalar, binding = 4) writeonly buffer Target { uint target[]; };
layout(scalar, binding = 5) writeonly buffer Active { uint active_block[]; };
layout(scalar, binding = 6) writeonly buffer Source { uint source[]; };
layout(scalar, push_constant) uniform Params {
    BlockLattice lattice;
    uint capacity;
};

#include "sparse/find_block.glsl"

void main() {
    uint o = thread_idx() / THREADS_PER_ITEM;
    uint s = thread_idx() % THREADS_PER_ITEM;
    if (o >= occupied_count[0]) return;
    if (o == 0u) target[occupied_count[0] * BLOCK_REACH + s] = INVALID_INDEX;
    uint slot = o * BLOCK_REACH + s;
    uvec3 block = block_place(lattice, occupied[o]) + reach_step(s);
    if (any(greaterThanEqual(block, lattice.blocks))) {
        target[slot] = INVALID_INDEX;
        return;
    }
    if (is_own[slot] == 0u) {
        uint owner;
        uint step = lowest_step(lattice, block, s, owner);
        uint place = rank[owner * BLOCK_REACH + step];
        target[slot] = place < capacity ? place : INVALID_INDEX;
        return;
    }
    uint place = rank[slot];
    if (place >= capacity) {
        target[slot] = INVALID_INDEX;
        return;
    }
    target[slot] = place;
    active_block[place] = block_number(lattice, block);
    for (uint k = 0u; k < BLOCK_REACH; ++k) source[place * BLOCK_REACH + k] = find_below(lattice, block, k);
}
