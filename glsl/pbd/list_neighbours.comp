#version 460
// Lists the neighbours of each particle at its predicted position, for the iterations of the density solve:
// the candidates within a margin around h, in the order of the search, and with HAS_IMAGES their images
// behind faces of the domain (images.glsl, neighbour_rows.glsl). With HAS_START, rows hold those within h at
// the start of the step, too. The s-th neighbour of particle i is neighbour[s · row_stride + i], so that
// threads of a group read side by side.
//
// While no particle has moved by half the margin since, every pair within h is in the rows, so that sums
// over rows have the bits of sums over cells. Otherwise, and where a row is too short, passes search the
// cells. solve_positions sets the flag of the next iteration in has_moved.
//
// Bytes: 32 a particle (predicted 12, key 4, 12 + 4 out), 12 with HAS_START, 4 a neighbour, candidates from
// cache. Order-independent.
// Elements: neighbour = threads * ROW_SLOTS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "common/images.glsl"
#include "pbd/neighbour_rows.glsl"

layout(constant_id = 1) const uint ROW_SLOTS = 64;
layout(constant_id = 2) const uint HAS_IMAGES = 0;
// Periodic axes, a bit each.
layout(constant_id = 3) const uint PERIODIC = 0;
// 1 to list the neighbours at the start of the step, too.
layout(constant_id = 4) const uint HAS_START = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) writeonly buffer Neighbour { uint neighbour[]; };
layout(scalar, binding = 5) writeonly buffer Row { uint row[]; };
layout(scalar, binding = 6) writeonly buffer Listed { vec3 listed[]; };
layout(scalar, binding = 7) writeonly buffer HasMoved { uint has_moved[]; };
layout(scalar, binding = 8) readonly buffer Position { vec3 position[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    vec3 domain_min_m;
    vec3 domain_max_m;
    float inverse_h;
    // Square of the distance in h within which particles are listed.
    float reach_q2;
    uint row_stride;
};

void main() {
    uint i = thread_idx();
    // One flag for each iteration: no particle has moved.
    if (i == 0u) {
        for (uint k = 0u; k < has_moved.length(); ++k) has_moved[k] = 0u;
    }
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    vec3 start = HAS_START != 0u ? position[i] : vec3(0.0);
    uvec3 home = home_of(grid, key[i]);
    uint n_own = 0u;
    for (uint run = 0u; run < neighbour_runs(grid); ++run) {
        uvec2 cells = neighbour_run(grid, home, run);
        uint end = cell_start[cells.y];
        // A bit for each of 32 candidates, so that lanes find their neighbours together, and write them
        // together: in one loop, all would wait for the write of any.
        for (uint first = cell_start[cells.x]; first < end; first += 32u) {
            uint hits = 0u;
            for (uint j = first; j < min(first + 32u, end); ++j) {
                vec3 offset = (x - predicted[j]) * inverse_h;
                bool is_near = dot(offset, offset) < reach_q2;
                if (HAS_START != 0u) {
                    offset = (start - position[j]) * inverse_h;
                    is_near = is_near || dot(offset, offset) < 1.0;
                }
                hits |= uint(j != i && is_near) << (j - first);
            }
            for (; hits != 0u; hits &= hits - 1u, ++n_own)
                if (n_own < ROW_SLOTS) neighbour[n_own * row_stride + i] = first + uint(findLSB(hits));
        }
    }
    uint found = n_own;
    if (HAS_IMAGES != 0u) {
        Faces faces = near_faces(grid, domain_max_m, home);
        uint n_places = place_count(faces);
        [[dont_unroll]] for (uint place = 1u; place < n_places; ++place) {
            Image image = image_of(grid, domain_max_m, PERIODIC, faces, home, place);
            Reflection reflection = reflection_at(domain_min_m, domain_max_m, PERIODIC, image.sides);
            FOR_EACH_IN_CELLS(cell_start, grid, image.cells, j) {
                vec3 offset = offset_from(reflection, inverse_h, x, predicted[j]);
                bool is_near = dot(offset, offset) < reach_q2;
                if (HAS_START != 0u) {
                    offset = offset_from(reflection, inverse_h, start, position[j]);
                    is_near = is_near || dot(offset, offset) < 1.0;
                }
                if (!is_near) continue;
                if (found < ROW_SLOTS) neighbour[found * row_stride + i] = row_entry(j, image.sides);
                ++found;
            }
        }
    }
    row[i] = found > ROW_SLOTS ? ROW_TOO_SHORT : n_own | (found << 16);
    listed[i] = x;
}
