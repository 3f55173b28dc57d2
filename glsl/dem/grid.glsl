// Wrapped uniform grid (Gucer2010 eq 3.1): cell numbers repeat periodically along y and z, so that a mountain
// with a thin flow on it needs no cells for its air. Hash collisions are rejected by distance.
//
// Cells are numbered x fastest, then y, then z. Each axis has at least three cells, so that the 27 around a
// grain differ; along x, which is not wrapped, the outermost two stay empty, so that the three in a row have
// consecutive numbers.
#ifndef DEM_GRID
#define DEM_GRID

struct WrappedGrid {
    vec3 origin_m;
    float cells_per_m;
    uvec3 cells;
};

uvec3 wrapped_cell(WrappedGrid grid, vec3 x_m) {
    // Positions that are not finite or far outside have a cell, too.
    vec3 place = clamp(floor((x_m - grid.origin_m) * grid.cells_per_m), vec3(0.0), vec3(1.0e6));
    uvec3 cell = uvec3(place);
    return uvec3(1u + min(cell.x, grid.cells.x - 3u), cell.y % grid.cells.y, cell.z % grid.cells.z);
}

uint cell_number(WrappedGrid grid, uvec3 cell) {
    return cell.x + grid.cells.x * (cell.y + grid.cells.y * cell.z);
}

// Returns the number of the first cell of one of the nine rows of three cells along x around a cell.
uint row_about(WrappedGrid grid, uvec3 cell, uint row) {
    uint y = cell.y + row % 3u + grid.cells.y - 1u;
    uint z = cell.z + row / 3u + grid.cells.z - 1u;
    return cell_number(grid, uvec3(cell.x - 1u, y % grid.cells.y, z % grid.cells.z));
}

#endif
