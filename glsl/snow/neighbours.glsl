// Loops over the neighbours of a particle: those of its row (rows.glsl) or, without rows, where the row is
// too short, or when a particle has moved too far, all in the cells around it. The order is the same, and so
// are the bits of sums that test the distance.
//
// Needs buffer rows.
#include "snow/rows.glsl"

struct Row {
    bool is_listed;
    uint stride;
    // Slots of neighbours of the same phase, and of the other: the first, and the one after the last.
    uvec2 own;
    uvec2 other;
};

// Returns the row of a particle at the time of a flag, or of INVALID_INDEX, at which there are no rows.
Row row_of(uint i, uint flag) {
    uint stride = stride_of(rows.length());
    bool has_rows = ROW_SLOTS != 0u && flag != INVALID_INDEX && rows[flag_at(stride, flag)] == 0u;
    uint lengths = has_rows ? rows[lengths_at(stride, i)] : ROW_TOO_SHORT;
    uint n_own = lengths & 0xffffu;
    return Row(lengths != ROW_TOO_SHORT, stride, uvec2(0u, n_own), uvec2(n_own, lengths >> 16));
}

Row no_row() { return Row(false, 0u, uvec2(0u), uvec2(0u)); }

// Loops `k` over the slots of a row or, if it is not listed, over the particles of a phase in the cells
// around `home`. The neighbour is NEIGHBOUR_AT(row, i, k). One loop for both, so that its body is there once.
#define FOR_EACH_NEIGHBOUR(row, slots, cell_start, grid, home, k)                                            \
    for (uint run_ = 0u, n_runs_ = (row).is_listed ? 1u : neighbour_runs(grid); run_ < n_runs_; ++run_)      \
        for (uvec2 cells_ = (row).is_listed ? uvec2(0u) : neighbour_run(grid, home, run_),                   \
                   range_ = (row).is_listed ? (slots) : uvec2(cell_start[cells_.x], cell_start[cells_.y]);   \
             range_.x < range_.y; range_.x = range_.y)                                                       \
            for (uint k = range_.x; k < range_.y; ++k)

// The same in a box of cells (common/images.glsl), which must be of one cell if the row is listed.
#define FOR_EACH_NEIGHBOUR_IN(row, slots, cell_start, grid, cells, k)                                        \
    for (uint z_ = (cells).first.z; z_ <= (cells).last.z; ++z_)                                              \
        for (uint y_ = (cells).first.y; y_ <= (cells).last.y; ++y_)                                          \
            for (uint first_ = (grid).dims.x * (y_ + (grid).dims.y * z_),                                    \
                      k = (row).is_listed ? (slots).x : cell_start[first_ + (cells).first.x],                \
                      end_ = (row).is_listed ? (slots).y : cell_start[first_ + (cells).last.x + 1u];         \
                 k < end_; ++k)

#define NEIGHBOUR_AT(row, i, k) ((row).is_listed ? rows[(k) * (row).stride + (i)] : (k))
