// Finds blocks of cubes by number. Needs buffers `cube_block_count`, `marked` and `word_base`.
#include "surface/lattice.glsl"

// Returns the index of a block in the list of stored ones, or INVALID_INDEX.
uint find_cube_block(BlockLattice lattice, ivec3 block) {
    if (any(lessThan(block, ivec3(-1))) || any(greaterThanEqual(block, ivec3(lattice.blocks))))
        return INVALID_INDEX;
    uint number = cube_block_number(lattice, block);
    uint bits = marked[number / BITS];
    uint bit = 1u << (number % BITS);
    if ((bits & bit) == 0u) return INVALID_INDEX;
    uint place = word_base[number / BITS] + bitCount(bits & (bit - 1u));
    // Marked, but beyond the capacity of the list.
    return place < cube_block_count[0] ? place : INVALID_INDEX;
}
