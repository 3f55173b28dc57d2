#version 460
// Removes the particles that the sort by cell has put behind all cells: those in drains (integrate.comp).
// One thread.
//
// Bytes: 12. Order-independent.
// Elements: cell_start = 1, args = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/dispatch.glsl"
#include "sources/sources.glsl"

layout(scalar, binding = 0) buffer Count { uint count[]; };
layout(scalar, binding = 1) writeonly buffer Args { uvec3 args[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) buffer Counts { Emission emission[]; };
layout(scalar, push_constant) uniform Params {
    uint n_cells;
    uint max_groups_x;
};

void main() {
    if (thread_idx() != 0u) return;
    // After a fault there are no particles, and cells are those of the step before.
    uint n = min(cell_start[n_cells], count[0]);
    if (n == count[0]) return;
    emission[0].n_drained += count[0] - n;
    count[0] = n;
    [[dont_unroll]] for (uint row = 0u; row < 16u; ++row) args[row] = dispatch_of(n, row, max_groups_x);
}
