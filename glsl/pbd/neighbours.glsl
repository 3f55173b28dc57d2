// Loops over the neighbours of a particle: those of its row (neighbour_rows.glsl) or, without rows, where the
// row is too short, or when a particle has moved beyond the skin, all in the cells around it. The order is
// the same, and so are the bits of sums that test the distance.
//
// Needs a grid and the buffer rows.
#ifndef PBD_NEIGHBOURS
#define PBD_NEIGHBOURS
#include "common/images.glsl"
#include "pbd/neighbour_rows.glsl"

// Words of a row, 0 without rows.
layout(constant_id = 10) const uint ROW_WORDS = 0;

struct Row {
    bool is_listed;
    // Distance between words.
    uint stride;
    // Places of the entries of the same phase, and of all others: of the first, and after the last.
    uvec2 own;
    uvec2 other;
};

// Returns the row of a particle at the time of a flag, or of INVALID_INDEX, at which there are no rows.
Row row_of(uint i, uint flag) {
    bool has_rows = ROW_WORDS != 0u && flag != INVALID_INDEX && rows[flag] == 0u;
    uint lengths = has_rows ? rows[ROW_FLAGS + i] : ROW_TOO_SHORT;
    uint stride = row_stride(rows.length(), ROW_WORDS);
    uint first = ROW_FLAGS + i + stride;
    uvec2 ends = first + stride * uvec2(lengths & 0xffffu, lengths >> 16);
    return Row(lengths != ROW_TOO_SHORT, stride, uvec2(first, ends.x), ends);
}

Row no_row() { return Row(false, 0u, uvec2(0u), uvec2(0u)); }

// Returns the cell of a particle of two phases.
uint row_cell(Row row, uint i) { return rows[ROW_FLAGS + i + (ROW_WORDS - 1u) * row.stride]; }

// Loops `k` over the places of entries of a row or, if it is not listed, over the particles of a phase in the
// cells around `home`. The entry is NEIGHBOUR_AT(row, k). One loop for both, so that its body is there once.
// Bound: each run once, and its entries.
#define FOR_EACH_NEIGHBOUR(row, entries, cell_start, grid, home, k)                                          \
    for (uint run_ = 0u, n_runs_ = (row).is_listed ? 1u : neighbour_runs(grid); run_ < n_runs_; ++run_)      \
        for (uvec2 cells_ = (row).is_listed ? uvec2(0u) : neighbour_run(grid, home, run_),                   \
                   range_ = (row).is_listed ? (entries) : uvec2(cell_start[cells_.x], cell_start[cells_.y]); \
             range_.x < range_.y; range_.x = range_.y)                                                       \
            for (uint k = range_.x; k < range_.y; k += ROW_STEP(row))

// The same in a box of cells (common/images.glsl), which must be of one cell if the row is listed.
#define FOR_EACH_NEIGHBOUR_IN(row, entries, cell_start, grid, cells, k)                                      \
    for (uint z_ = (cells).first.z; z_ <= (cells).last.z; ++z_)                                              \
        for (uint y_ = (cells).first.y; y_ <= (cells).last.y; ++y_)                                          \
            for (uint first_ = (grid).dims.x * (y_ + (grid).dims.y * z_),                                    \
                      k = (row).is_listed ? (entries).x : cell_start[first_ + (cells).first.x],              \
                      end_ = (row).is_listed ? (entries).y : cell_start[first_ + (cells).last.x + 1u];       \
                 k < end_; k += ROW_STEP(row))

#define ROW_STEP(row) ((row).is_listed ? (row).stride : 1u)

#define NEIGHBOUR_AT(row, k) ((row).is_listed ? rows[k] : (k))

// Images are in the places 1 … image_places − 1, and in each of these in `other` of the row or in the cells
// of the place. In a row, all are in one place, and each entry has the faces that reflect it.
uint image_places(Row row, Grid grid, vec3 max_m, uvec3 home) {
    return row.is_listed ? 2u : place_count(near_faces(grid, max_m, home));
}

Image image_place(Row row, Grid grid, vec3 max_m, uint periodic, uvec3 home, uint place) {
    if (row.is_listed) return Image(uvec3(0u), Cells(uvec3(0u), uvec3(0u)));
    return image_of(grid, max_m, periodic, near_faces(grid, max_m, home), home, place);
}

uint image_particle(Row row, uint entry) { return row.is_listed ? row_particle(entry) : entry; }

uvec3 image_sides(Row row, Image place, uint entry) { return row.is_listed ? row_sides(entry) : place.sides; }

// The same loops as one, whatever the runs, rows and images: for each loop around it, a GPU's compiler keeps
// another copy of all that a body changes, which is too much of sums of matrices. END_NEIGHBOURS follows the
// body. Bound: the runs and the entries.
#define FOR_EACH_NEIGHBOUR_FLAT(row, entries, cell_start, grid, home, k)                                     \
    for (uint run_ = 0u, n_runs_ = (row).is_listed ? 0u : neighbour_runs(grid),                              \
              k = (row).is_listed ? (entries).x : 0u, end_ = (row).is_listed ? (entries).y : 0u;             \
         k < end_ || run_ < n_runs_; k += ROW_STEP(row)) {                                                   \
        RARELY(k >= end_) {                                                                                  \
            uvec2 cells_ = neighbour_run(grid, home, run_++);                                                \
            k = cell_start[cells_.x];                                                                        \
            end_ = cell_start[cells_.y];                                                                     \
        }                                                                                                    \
        if (k < end_)

#define FOR_EACH_NEIGHBOUR_IN_FLAT(row, entries, cell_start, grid, cells, k)                                 \
    for (uint y_ = (cells).first.y, z_ = (row).is_listed ? (cells).last.z + 1u : (cells).first.z,            \
              k = (row).is_listed ? (entries).x : 0u, end_ = (row).is_listed ? (entries).y : 0u;             \
         k < end_ || z_ <= (cells).last.z; k += ROW_STEP(row)) {                                             \
        RARELY(k >= end_) { NEXT_RUN_IN(cells, cell_start, grid, k) }                                        \
        if (k < end_)

// Loops over all images of neighbours: those in `other` of the row or, without one, in all places. The faces
// of an entry are image_sides(row, image_, entry).
#define FOR_EACH_IMAGE_FLAT(row, cell_start, grid, max_m, periodic, home, k)                                 \
    Image image_ = Image(uvec3(0u), Cells(uvec3(0u), uvec3(0u)));                                            \
    for (uint place_ = 1u, n_places_ = (row).is_listed ? 1u : place_count(near_faces(grid, max_m, home)),    \
              y_ = 0u, z_ = 1u,                                                                              \
              k = (row).is_listed ? (row).other.x : 0u, end_ = (row).is_listed ? (row).other.y : 0u;         \
         k < end_ || z_ <= image_.cells.last.z || place_ < n_places_; k += ROW_STEP(row)) {                  \
        RARELY(k >= end_) {                                                                                  \
            if (z_ > image_.cells.last.z) {                                                                  \
                image_ = image_of(grid, max_m, periodic, near_faces(grid, max_m, home), home, place_++);     \
                y_ = image_.cells.first.y;                                                                   \
                z_ = image_.cells.first.z;                                                                   \
            }                                                                                                \
            NEXT_RUN_IN(image_.cells, cell_start, grid, k)                                                   \
        }                                                                                                    \
        if (k < end_)

#define END_NEIGHBOURS }

// Begins the run of cells at y_ and z_ of a box, and advances these.
#define NEXT_RUN_IN(cells, cell_start, grid, k)                                                              \
    uint first_ = (grid).dims.x * (y_ + (grid).dims.y * z_);                                                 \
    k = cell_start[first_ + (cells).first.x];                                                                \
    end_ = cell_start[first_ + (cells).last.x + 1u];                                                         \
    bool is_last_ = y_ == (cells).last.y;                                                                    \
    y_ = is_last_ ? (cells).first.y : y_ + 1u;                                                               \
    z_ += is_last_ ? 1u : 0u;

#endif
