// Rows of cells below a node, whose particles are consecutive: keys of a block are consecutive along x.
//
// Needs STENCIL and buffers `source`, `first_cell` and `cell_start`.
struct CellRow {
    uint begin;
    uint end;
};

// Returns the particles that reach any node of a run along x in active block a, with first node `in_block`,
// and are based y and z nodes below it: those in the nodes' own blocks along x (side 0), or in the blocks
// before (side 1).
CellRow row_of_cells(uint a, uvec3 in_block, uint n_nodes, uint y, uint z, uint side) {
    const uint farthest = STENCIL - 1u;
    if (side == 1u && in_block.x >= farthest) return CellRow(0u, 0u);
    uvec3 below = uvec3(side, in_block.y < y ? 1u : 0u, in_block.z < z ? 1u : 0u);
    uint o = source[a * BLOCK_REACH + (below.x | below.y << 1u | below.z << 2u)];
    if (o == INVALID_INDEX) return CellRow(0u, 0u);
    uint first = side == 1u ? in_block.x + BLOCK_SIDE - farthest : max(in_block.x, farthest) - farthest;
    uint last = side == 1u ? BLOCK_SIDE - 1u : in_block.x + n_nodes - 1u;
    uvec3 start = uvec3(0u, in_block.y + BLOCK_SIDE * below.y - y, in_block.z + BLOCK_SIDE * below.z - z);
    uint row = first_cell[o] + node_number(start);
    return CellRow(cell_start[row + first], cell_start[row + last + 1u]);
}
