// The uniform grid: cells are cubes, numbered x fastest, then y, then z.
//
// Particles are sorted by cell number, and cell_start[c] is the place of the first particle of cell c, with one entry past
// the last cell. So the particles of cells a … b−1 stand contiguously at cell_start[a] … cell_start[b]−1, and the 27 cells
// around a particle are 9 runs of 3 cells in x.

struct Grid {
    vec3 origin_m;
    float cell_size_m;
    uvec3 dims;
};

// The cell that holds a position; positions outside the grid belong to the nearest cell, NaN to cell 0.
uvec3 cell_of(Grid grid, vec3 position_m) {
    vec3 scaled = (position_m - grid.origin_m) / grid.cell_size_m;
    return uvec3(clamp(scaled, vec3(0.0), vec3(grid.dims - 1u)));
}

uint cell_key(Grid grid, uvec3 cell) { return cell.x + grid.dims.x * (cell.y + grid.dims.y * cell.z); }

uvec3 cell_from_key(Grid grid, uint key) {
    uint row = key / grid.dims.x;
    return uvec3(key - row * grid.dims.x, row % grid.dims.y, row / grid.dims.y);
}

// Run 0 … 8 of the cells around `cell`: (first cell, cell after the last). Empty where y or z leave the grid.
uvec2 neighbour_run(Grid grid, uvec3 cell, uint run) {
    uvec2 row = uvec2(cell.y + run % 3u, cell.z + run / 3u);
    // `row` is one too large, so that it stays unsigned: 0 stands for −1.
    if (any(equal(row, uvec2(0u))) || row.x > grid.dims.y || row.y > grid.dims.z) return uvec2(0u);
    uint base = grid.dims.x * (row.x - 1u + grid.dims.y * (row.y - 1u));
    uint first = cell.x == 0u ? 0u : cell.x - 1u;
    return uvec2(base + first, base + min(cell.x + 2u, grid.dims.x));
}

// Loops `j` over every particle in the cells around `cell`; needs a buffer `cell_start`. The order is that of the sorted
// array, so that sums over neighbours have the same bits in every run.
#define FOR_EACH_CANDIDATE(grid, cell, j)                                                    \
    for (uint run_ = 0u; run_ < 9u; ++run_)                                                  \
        for (uvec2 cells_ = neighbour_run(grid, cell, run_), range_ = uvec2(cell_start[cells_.x], cell_start[cells_.y]); \
             range_.x < range_.y; range_.x = range_.y)                                       \
            for (uint j = range_.x; j < range_.y; ++j)
