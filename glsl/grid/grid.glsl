// Uniform grid of cubic cells, numbered in one of two orders.
//
// - Linear: x fastest, then y, then z.
// - Z-order (Morton): the bits of x, y and z interleaved, so that cells near in space are near in memory; an
//   axis that requires fewer bits than another contributes none above them. Numbers have gaps if a side is
//   not a power of two; these are cells that stay empty.
//
// Particles are sorted by cell number, and cell_start[c] is the index of the first particle of cell c, with
// one entry past the last cell. So the particles of cells a … b−1 are contiguous from cell_start[a] to
// cell_start[b]−1, and the 27 cells around a particle are 9 runs of 3 cells in x; in Z-order they are 27
// runs.

struct Grid {
    vec3 origin_m;
    float cell_size_m;
    uvec3 dims;
    // Z-order: the bits of a cell number that belong to x, y and z, and the last cell's number. Linear: 0.
    uvec3 axis_bits;
    uint last_cell;
};

bool is_z_order(Grid grid) { return (grid.axis_bits.x | grid.axis_bits.y | grid.axis_bits.z) != 0u; }

// Returns the coordinates of the cell that holds a position; positions outside the grid belong to the nearest
// cell, NaN to cell 0.
uvec3 cell_of(Grid grid, vec3 position_m) {
    vec3 scaled = (position_m - grid.origin_m) / grid.cell_size_m;
    return uvec3(clamp(scaled, vec3(0.0), vec3(grid.dims - 1u)));
}

// Spreads the low bits of `value` over the bits of `mask`.
uint deposit_bits(uint value, uint mask) {
    uint result = 0u;
    // Bound: 32, the bits of the mask.
    for (; mask != 0u; mask &= mask - 1u) {
        if ((value & 1u) != 0u) result |= mask & ~(mask - 1u);
        value >>= 1u;
    }
    return result;
}

// Returns the number of the cell with these coordinates.
uint cell_key(Grid grid, uvec3 cell) {
    if (is_z_order(grid)) {
        return deposit_bits(cell.x, grid.axis_bits.x) | deposit_bits(cell.y, grid.axis_bits.y) |
            deposit_bits(cell.z, grid.axis_bits.z);
    }
    return cell.x + grid.dims.x * (cell.y + grid.dims.y * cell.z);
}

// Returns the cell in the form that neighbour_run takes: its coordinates, in Z-order each as its bits of the
// cell's number.
uvec3 home_of(Grid grid, uint key) {
    if (is_z_order(grid)) return key & grid.axis_bits;
    uint row = key / grid.dims.x;
    return uvec3(key - row * grid.dims.x, row % grid.dims.y, row / grid.dims.y);
}

uint neighbour_runs(Grid grid) { return is_z_order(grid) ? 27u : 9u; }

// Computes one coordinate of a neighbouring cell, as bits of its number; step 0, 1 and 2 mean −1, 0 and 1.
// Returns false outside the grid.
bool step_along_(uint bits, uint last, uint mask, uint step, inout uint key) {
    if (step == 0u ? bits == 0u : step == 2u && bits == last) return false;
    // A borrow or a carry propagates through the bits of the other axes.
    key |= (step == 0u ? bits - 1u : step == 2u ? (bits | ~mask) + 1u : bits) & mask;
    return true;
}

// Returns run 0 … neighbour_runs − 1 of the cells around `home`: (first cell, cell after the last). Empty
// outside the grid.
uvec2 neighbour_run(Grid grid, uvec3 home, uint run) {
    if (is_z_order(grid)) {
        uvec3 last = grid.last_cell & grid.axis_bits;
        uint key = 0u;
        bool inside = step_along_(home.x, last.x, grid.axis_bits.x, run % 3u, key) &&
            step_along_(home.y, last.y, grid.axis_bits.y, run / 3u % 3u, key) &&
            step_along_(home.z, last.z, grid.axis_bits.z, run / 9u, key);
        return inside ? uvec2(key, key + 1u) : uvec2(0u);
    }
    uvec2 row = uvec2(home.y + run % 3u, home.z + run / 3u);
    // `row` is one too large, so that it stays unsigned: 0 means −1.
    if (any(equal(row, uvec2(0u))) || row.x > grid.dims.y || row.y > grid.dims.z) return uvec2(0u);
    uint base = grid.dims.x * (row.x - 1u + grid.dims.y * (row.y - 1u));
    uint first = home.x == 0u ? 0u : home.x - 1u;
    return uvec2(base + first, base + min(home.x + 2u, grid.dims.x));
}

// Loops `j` over every particle in the cells around `home`, whose starts are in the buffer `cell_start`. The
// order is that of the runs, and within a run that of the sorted array, so that sums over neighbours have the
// same bits in every run of the program.
// Bound: each run once, and the particles of its cells.
#define FOR_EACH_CANDIDATE_IN(cell_start, grid, home, j)                                     \
    for (uint run_ = 0u; run_ < neighbour_runs(grid); ++run_)                                \
        for (uvec2 cells_ = neighbour_run(grid, home, run_),                                 \
                   range_ = uvec2(cell_start[cells_.x], cell_start[cells_.y]);               \
             range_.x < range_.y; range_.x = range_.y)                                       \
            for (uint j = range_.x; j < range_.y; ++j)

#define FOR_EACH_CANDIDATE(grid, home, j) FOR_EACH_CANDIDATE_IN(cell_start, grid, home, j)
