#version 460
// Builds compact neighbour lists: counts each particle's neighbours within the radius, or writes them at the
// positions from the scan of the counts.
//
// First pass (write = 0): list_count[i] = number of others within the radius. Second pass:
// neighbour[list_start[i] …] = their indices, in the order of the candidates. If the lists exceed the
// capacity, nothing is written, and required[0], the sum of the counts, is the required capacity.
// Bytes: 16 a particle, 4 a neighbour, candidates from cache. Order-independent.
// Elements: list_start = threads * WRITE, list_count = threads - threads * WRITE, neighbour = capacity * WRITE.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"

// 0: count; 1: write.
layout(constant_id = 1) const uint WRITE = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer ListStart { uint list_start[]; };
layout(scalar, binding = 5) readonly buffer Required { uint required[]; };
layout(scalar, binding = 6) writeonly buffer ListCount { uint list_count[]; };
layout(scalar, binding = 7) writeonly buffer Neighbour { uint neighbour[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    float radius_m;
    uint capacity;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0] || (WRITE != 0u && required[0] > capacity)) return;
    vec3 x = position[i];
    uint found = 0u;
    uint begin = WRITE != 0u ? list_start[i] : 0u;
    FOR_EACH_CANDIDATE(grid, home_of(grid, key[i]), j) {
        vec3 offset = x - position[j];
        if (j == i || dot(offset, offset) >= radius_m * radius_m) continue;
        if (WRITE != 0u) neighbour[begin + found] = j;
        ++found;
    }
    if (WRITE == 0u) list_count[i] = found;
}
