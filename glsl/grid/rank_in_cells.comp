#version 460
// Sorts the particles within each cell by index: the third pass of the counting sort by cell. The result is
// that of a stable sort, the same bits on every run, although atomics counted in any order.
//
// A particle's rank is the number of smaller indices in its cell: a few reads from cache if cells hold a few
// particles, and as many as there are particles if one cell holds all.
// Bytes: 16 read and 8 written a particle, its cell's others from cache. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Placed { uvec2 placed[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) writeonly buffer Order { uint order[]; };
layout(scalar, binding = 4) writeonly buffer SortedKey { uint sorted_key[]; };

void main() {
    uint p = thread_idx();
    if (p >= count[0]) return;
    uvec2 own = placed[p];
    uint begin = cell_start[own.y];
    // Behind all cells are elements of no cell.
    uint end = own.y + 1u < cell_start.length() ? cell_start[own.y + 1u] : count[0];
    uint rank = 0u;
    for (uint q = begin; q < end; ++q) rank += placed[q].x < own.x ? 1u : 0u;
    order[begin + rank] = own.x;
    sorted_key[p] = own.y;
}
