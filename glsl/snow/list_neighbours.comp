#version 460
// Lists the neighbours of each particle in both phases at its predicted position, once a step, for all passes
// over neighbours in it: the candidates within a margin around h, in the order of the search, those of its
// own phase first (rows.glsl). Passes test the distance again. While no particle has moved by half the margin
// since (mark_moved.comp), every pair within h is in the rows, so that sums over rows have the bits of sums
// over cells.
//
// Bytes: 40 a particle (predicted 12, key 4, 12 + 8 out, count 4), 4 a neighbour, candidates from cache.
// Order-independent.
// Elements: rows = threads * ROW_SLOTS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "snow/rows.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer OtherCellStart { uint other_cell_start[]; };
layout(scalar, binding = 5) readonly buffer OtherPredicted { vec3 other_predicted[]; };
layout(scalar, binding = 6) writeonly buffer Rows { uint rows[]; };
layout(scalar, binding = 7) writeonly buffer Listed { vec3 listed[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    float inverse_h;
    // Square of the distance in h within which particles are listed.
    float reach_q2;
};

// Written so that a position that is not a number is near all, as in the passes that list them again.
bool is_near(vec3 x, vec3 other_x) {
    vec3 offset = (x - other_x) * inverse_h;
    return !(dot(offset, offset) >= reach_q2);
}

// Lists candidates by 32, a bit for each, so that lanes find their neighbours together, and write them
// together. In one loop, all would wait for the write of any.
#define LIST(cell_start, is_hit)                                                                    \
    for (uint run = 0u; run < neighbour_runs(grid); ++run) {                                        \
        uvec2 cells = neighbour_run(grid, home, run);                                               \
        uint end = cell_start[cells.y];                                                             \
        for (uint first = cell_start[cells.x]; first < end; first += 32u) {                         \
            uint hits = 0u;                                                                         \
            for (uint j = first; j < min(first + 32u, end); ++j)                                    \
                hits |= uint(is_hit) << (j - first);                                                \
            for (; hits != 0u; hits &= hits - 1u, ++found)                                          \
                if (found < ROW_SLOTS) rows[found * stride + i] = first + uint(findLSB(hits));  \
        }                                                                                           \
    }

void main() {
    uint i = thread_idx();
    uint stride = stride_of(rows.length());
    if (i == 0u) {
        for (uint flag = 0u; flag < JOINT_FLAGS; ++flag) rows[flag_at(stride, flag)] = 0u;
    }
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    uint own_key = key[i];
    uvec3 home = home_of(grid, own_key);
    uint found = 0u;
    LIST(cell_start, j != i && is_near(x, predicted[j]))
    uint n_own = found;
    LIST(other_cell_start, is_near(x, other_predicted[j]))
    rows[lengths_at(stride, i)] = found > ROW_SLOTS ? ROW_TOO_SHORT : n_own | (found << 16);
    rows[cell_at(stride, i)] = own_key;
    listed[i] = x;
}
