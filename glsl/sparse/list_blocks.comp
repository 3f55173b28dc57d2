#version 460
// Lists the occupied blocks, ascending, with the first particle of each, and converts each particle's rank
// among the first ones into the index of its block in that list.
//
// `block_of` comes in as the exclusive scan of `is_first`. Blocks past the list's capacity are left out, and
// their particles get the index after the last, whose row in link_blocks is INVALID_INDEX; settle_blocks
// counts them.
// Bytes: 16 a particle, 12 a block. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
#include "sparse/blocks.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer First { uint is_first[]; };
layout(scalar, binding = 3) buffer BlockOf { uint block_of[]; };
layout(scalar, binding = 4) writeonly buffer Occupied { uint occupied[]; };
layout(scalar, binding = 5) writeonly buffer Start { uint start[]; };
layout(scalar, binding = 6) writeonly buffer FirstCell { uint first_cell[]; };
layout(scalar, push_constant) uniform Params { uint capacity; };

void main() {
    uint i = thread_idx();
    uint n = count[0];
    if (i >= n) return;
    bool first = is_first[i] != 0u;
    uint place = block_of[i] + (first ? 0u : 0xffffffffu);
    block_of[i] = min(place, capacity);
    if (first && place < capacity) {
        occupied[place] = block_of_key(key[i]);
        first_cell[place] = place * BLOCK_NODES;
    }
    // The first block beyond the capacity ends the last stored one.
    if (first && place <= capacity) start[place] = i;
    // End of the particles of the last block.
    if (i == n - 1u && place < capacity) start[place + 1u] = n;
}
