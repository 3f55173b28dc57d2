#version 460
// Counts the particles of each cell by atomics: the first pass of the counting sort by cell.
//
// arrival[i] is the number of particles of its cell counted before i, in any order; rank_in_cells corrects
// the order. Counters start at 0.
// Bytes: 8 a particle and 8 for its cell's counter. Order-dependent in `arrival` only.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) buffer CellCount { uint cell_count[]; };
layout(scalar, binding = 3) writeonly buffer Arrival { uint arrival[]; };

void main() {
    uint i = thread_idx();
    if (i < count[0]) arrival[i] = atomicAdd(cell_count[key[i]], 1u);
}
