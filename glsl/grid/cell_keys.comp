#version 460
// Computes the cell number of each position. Bytes: 16 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) writeonly buffer Key { uint key[]; };
layout(scalar, push_constant) uniform Params { Grid grid; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    key[i] = cell_key(grid, cell_of(grid, position[i]));
}
