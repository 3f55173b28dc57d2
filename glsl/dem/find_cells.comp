#version 460
// Finds the cell of each grain: its number in the wrapped grid (Gucer2010 eq 3.1, 3.2). Bytes: 16 a grain.
// Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "dem/terms.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) writeonly buffer Key { uint key[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    WrappedGrid grid = terms[0].grid;
    key[i] = cell_number(grid, wrapped_cell(grid, position[i]));
}
