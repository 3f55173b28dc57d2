// Blocks within a step of the reach of another one. Needs a function `find_block`, which returns the index of
// a block among the occupied ones, or INVALID_INDEX. Returns the index of the block that is a step of a reach
// below another; INVALID_INDEX if that is outside.
uint find_below(BlockLattice lattice, uvec3 block, uint s) {
    uvec3 by = reach_step(s);
    if (any(lessThan(block, by))) return INVALID_INDEX;
    return find_block(block_number(lattice, block - by));
}

// Returns the lowest step by which an occupied block reaches a block, or BLOCK_REACH if none does. Several
// occupied blocks may reach one block; it belongs to the one with the lowest step.
uint lowest_step(BlockLattice lattice, uvec3 block, uint most, out uint owner) {
    for (uint s = 0u; s < most; ++s) {
        owner = find_below(lattice, block, s);
        if (owner != INVALID_INDEX) return s;
    }
    owner = INVALID_INDEX;
    return BLOCK_REACH;
}
