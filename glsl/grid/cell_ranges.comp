#version 460
// Finds the start of each cell among particles sorted by cell: cell_start[c] = number of keys below c, for c
// = 0 … cells.
//
// Each cell does a binary search, instead of a write by the particle before each gap: the work per thread is
// the same even if the domain is mostly empty, and neighbouring cells search the same cached keys.
// Bytes: 4 written a cell, log2(n) keys read from cache. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer SortedKeys { uint sorted_keys[]; };
layout(scalar, binding = 2) writeonly buffer CellStart { uint cell_start[]; };
layout(scalar, push_constant) uniform Params { uint cells; };

void main() {
    uint cell = thread_idx();
    if (cell > cells) return;
    uint low = 0u;
    uint high = count[0];
    // Bound: log2 of the number of particles.
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (sorted_keys[middle] < cell) low = middle + 1u;
        else high = middle;
    }
    cell_start[cell] = low;
}
