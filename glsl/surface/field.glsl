// Field of an isosurface: values of the nodes of a list of blocks, and 0 elsewhere.
//
// Needs buffers `cube_block_count`, `marked`, `word_base`, `node_block` and `value`.
#include "surface/find_cube_block.glsl"

float value_in_block(uint h, ivec3 node) {
    uint a = h == INVALID_INDEX ? INVALID_INDEX : node_block[h];
    return a == INVALID_INDEX ? 0.0 : value[a * BLOCK_NODES + place_of_node(node)];
}

// Block of cubes; the neighbours of most of its nodes are in itself and need no search.
struct HomeBlock {
    uint h;
    ivec3 block;
};

float value_at(BlockLattice lattice, HomeBlock home, ivec3 node) {
    ivec3 of = block_of_node(node);
    return value_in_block(of == home.block ? home.h : find_cube_block(lattice, of), node);
}

// Returns the gradient at a node by central differences, times two cells.
vec3 twice_gradient(BlockLattice lattice, HomeBlock home, ivec3 node) {
    vec3 slope;
    [[unroll]] for (uint axis = 0u; axis < 3u; ++axis) {
        ivec3 by = ivec3(0);
        by[axis] = 1;
        slope[axis] = value_at(lattice, home, node + by) - value_at(lattice, home, node - by);
    }
    return slope;
}
