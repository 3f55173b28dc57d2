#version 460
// Finds the key of each particle, like block_keys.comp, and counts the particles of each cell by atomics: the
// first pass of the sort in a table.
//
// arrival[i] is the number of particles of its cell counted before i, in any order; rank_in_blocks.comp
// corrects the order. Counters start at 0. Keys stay as they are if hold[0] is not INVALID_INDEX. Bytes: 20 a
// particle (position 12, key 4, arrival 4) and 8 for its cell's counter. Order-dependent in `arrival` only.
// Elements: hold = 1.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
#include "sparse/blocks.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) buffer Key { uint key[]; };
layout(scalar, binding = 3) buffer CellCount { uint cell_count[]; };
layout(scalar, binding = 4) writeonly buffer Arrival { uint arrival[]; };
layout(scalar, binding = 5) readonly buffer Hold { uint hold[]; };
layout(scalar, push_constant) uniform Params { BlockLattice lattice; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint found = key_of(lattice, base_of(lattice, place_in_cells(lattice, position[i])));
    uint own = hold[0] != INVALID_INDEX ? key[i] : found;
    key[i] = own;
    arrival[i] = atomicAdd(cell_count[own], 1u);
}
