#version 460
// Lists the neighbours of each particle of a phase at its predicted position, once a step, for all passes
// over neighbours in it: the candidates within the skin around h, in the order of the search, those of its
// own phase first; then with HAS_OTHER those of another phase, or with HAS_IMAGES the images of its own
// behind faces of the domain (neighbour_rows.glsl). With HAS_START, rows hold those within h at the start of
// the step, too.
//
// Passes test the distance again. While no particle has moved by half the skin since, every pair within h is
// in the rows, so that sums over rows have the bits of sums over cells. Otherwise, and where a row is too
// short, passes search the cells. Passes that move particles set the flags, or mark_moved.comp after them.
//
// Bytes: 32 a particle (predicted 12, key 4, 12 + 4 out), 12 with HAS_START, 4 with HAS_OTHER, 4 a neighbour,
// candidates from cache. Order-independent.
// Elements: rows = threads * ROW_WORDS, position = threads * HAS_START.
// Elements: other_cell_start = threads * HAS_OTHER, other_predicted = threads * HAS_OTHER.
// Work: 11 * (1 + HAS_START) flop per candidate.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "common/images.glsl"
#include "pbd/neighbour_rows.glsl"

// Words of a row: its length, its slots and, with HAS_OTHER, its cell.
layout(constant_id = 1) const uint ROW_WORDS = 65;
layout(constant_id = 2) const uint HAS_IMAGES = 0;
// Periodic axes, a bit each.
layout(constant_id = 3) const uint PERIODIC = 0;
// 1 to list the neighbours at the start of the step, too.
layout(constant_id = 4) const uint HAS_START = 0;
// 1 to list the neighbours in another phase; there are no images then.
layout(constant_id = 5) const uint HAS_OTHER = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 5) readonly buffer OtherCellStart { uint other_cell_start[]; };
layout(scalar, binding = 6) readonly buffer OtherPredicted { vec3 other_predicted[]; };
layout(scalar, binding = 7) writeonly buffer Rows { uint rows[]; };
layout(scalar, binding = 8) writeonly buffer Listed { vec3 listed[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    vec3 domain_min_m;
    vec3 domain_max_m;
    float inverse_h;
    // Square of the distance in h within which particles are listed.
    float reach_q2;
};

// Written so that a position that is not a number is near all, as in passes that test the distance again.
bool is_within(vec3 offset, float q2) { return !(dot(offset, offset) >= q2); }

// Returns true for a particle of the same phase near x, or near `start` at the start of the step.
bool is_near(vec3 x, vec3 start, uint j) {
    bool near = is_within((x - predicted[j]) * inverse_h, reach_q2);
    if (HAS_START != 0u) {
        bool was_near = is_within((start - position[j]) * inverse_h, 1.0);
        near = near || was_near;
    }
    return near;
}

// Lists candidates but `self` by 32, a bit for each, so that lanes find their neighbours together, and write
// them together. In one loop, all would wait for the write of any.
// Bound: the particles of the runs, and 32 bits for each 32 of them.
#define LIST(cell_start, self, is_hit)                                                                  \
    for (uint run = 0u; run < neighbour_runs(grid); ++run) {                                            \
        uvec2 cells = neighbour_run(grid, home, run);                                                   \
        uint end = cell_start[cells.y];                                                                 \
        for (uint first = cell_start[cells.x]; first < end; first += 32u) {                             \
            uint hits = 0u;                                                                             \
            for (uint j = first; j < min(first + 32u, end); ++j) hits |= uint(is_hit) << (j - first);   \
            if ((self) - first < 32u) hits &= ~(1u << ((self) - first));                                \
            for (; hits != 0u; hits &= hits - 1u, ++found)                                              \
                if (found < n_slots) rows[word_1 + found * stride] = first + uint(findLSB(hits));       \
        }                                                                                               \
    }

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    // No particle has moved.
    for (uint flag = i; flag < ROW_FLAGS; flag += count[0]) rows[flag] = 0u;
    vec3 x = predicted[i];
    vec3 start = HAS_START != 0u ? position[i] : vec3(0.0);
    uint own_key = key[i];
    uvec3 home = home_of(grid, own_key);
    uint stride = row_stride(rows.length(), ROW_WORDS);
    uint word_0 = ROW_FLAGS + i;
    uint word_1 = word_0 + stride;
    uint n_slots = ROW_WORDS - 1u - HAS_OTHER;
    uint found = 0u;
    LIST(cell_start, i, is_near(x, start, j))
    uint n_own = found;
    if (HAS_OTHER != 0u) {
        LIST(other_cell_start, INVALID_INDEX, is_within((x - other_predicted[j]) * inverse_h, reach_q2))
        rows[word_0 + (ROW_WORDS - 1u) * stride] = own_key;
    }
    if (HAS_IMAGES != 0u) {
        Faces faces = near_faces(grid, domain_max_m, home);
        uint n_places = place_count(faces);
        [[dont_unroll]] for (uint place = 1u; place < n_places; ++place) {
            Image image = image_of(grid, domain_max_m, PERIODIC, faces, home, place);
            Reflection reflection = reflection_at(domain_min_m, domain_max_m, PERIODIC, image.sides);
            FOR_EACH_IN_CELLS(cell_start, grid, image.cells, j) {
                bool near = is_within(offset_from(reflection, inverse_h, x, predicted[j]), reach_q2);
                if (HAS_START != 0u)
                    near = near || is_within(offset_from(reflection, inverse_h, start, position[j]), 1.0);
                if (!near) continue;
                if (found < n_slots) rows[word_1 + found * stride] = row_entry(j, image.sides);
                ++found;
            }
        }
    }
    rows[word_0] = found > n_slots ? ROW_TOO_SHORT : n_own | (found << 16);
    listed[i] = x;
}
