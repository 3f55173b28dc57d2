#version 460
// Sorts the particles within each cell by index, like grid/rank_in_cells.comp, and finds the index of each
// particle's block in the list of occupied ones: the last pass of the sort in a table.
//
// If blocks exceed a capacity, the order of particles stays as it is. Bytes: 16 read and 12 written a
// particle, its cell's others from cache. Order-independent.
// Elements: place_of = threads / BLOCK_NODES, required = 2.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
#include "sparse/blocks.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Placed { uvec2 placed[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer PlaceOf { uint place_of[]; };
layout(scalar, binding = 4) writeonly buffer Order { uint order[]; };
layout(scalar, binding = 5) writeonly buffer SortedKey { uint sorted_key[]; };
layout(scalar, binding = 6) writeonly buffer BlockOf { uint block_of[]; };
layout(scalar, binding = 7) readonly buffer Required { uint required[]; };
layout(scalar, push_constant) uniform Params { uint capacity[2]; };

void main() {
    uint p = thread_idx();
    if (p >= count[0]) return;
    uvec2 own = placed[p];
    uint begin = cell_start[own.y];
    uint end = cell_start[own.y + 1u];
    uint rank = 0u;
    for (uint q = begin; q < end; ++q) rank += placed[q].x < own.x ? 1u : 0u;
    bool is_full = required[0] > capacity[0] || required[1] > capacity[1];
    order[is_full ? p : begin + rank] = is_full ? p : own.x;
    sorted_key[p] = own.y;
    block_of[p] = place_of[block_of_key(own.y)];
}
