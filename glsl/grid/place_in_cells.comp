#version 460
// Places each particle in its cell's part of the array, in the order of arrival: the second pass of the
// counting sort by cell.
//
// placed[p] = (index of the particle at position p, its cell). Bytes: 8 read, 4 for the cell's start, 8
// written a particle. Order-dependent within a cell; rank_in_cells corrects that.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Arrival { uint arrival[]; };
layout(scalar, binding = 4) writeonly buffer Placed { uvec2 placed[]; };

void main() {
    uint i = thread_idx();
    if (i < count[0]) placed[cell_start[key[i]] + arrival[i]] = uvec2(i, key[i]);
}
