#version 460
// Finds the start of each cell of each occupied block: cell_start[o · 4^D + c] is the first particle of block
// o whose base is not below node c. The next entry is the end, also past the last cell of a block.
//
// Bytes: 4 a cell, and a search among the block's keys. Order-independent.
// Elements: cell_start = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
#include "sparse/blocks.glsl"

layout(scalar, binding = 0) readonly buffer OccupiedCount { uint occupied_count[]; };
layout(scalar, binding = 1) readonly buffer Start { uint start[]; };
layout(scalar, binding = 2) readonly buffer Key { uint key[]; };
layout(scalar, binding = 3) writeonly buffer CellStart { uint cell_start[]; };

void main() {
    uint o = thread_idx() / THREADS_PER_ITEM;
    uint c = thread_idx() % THREADS_PER_ITEM;
    if (o >= occupied_count[0]) return;
    uint begin = start[o];
    uint end = start[o + 1u];
    if (o == occupied_count[0] - 1u && c == 0u) cell_start[(o + 1u) * BLOCK_NODES] = end;
    // Bound: log2 of the number of particles of the block.
    while (begin < end) {
        uint middle = (begin + end) / 2u;
        if (key[middle] % BLOCK_NODES < c) begin = middle + 1u;
        else end = middle;
    }
    cell_start[o * BLOCK_NODES + c] = begin;
}
