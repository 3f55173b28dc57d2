// Lattice of nodes in blocks of 4 per axis; only blocks near particles are stored.
//
// A particle's base is the lowest node that it reaches: floor(ξ − shift), with ξ its position in cells. Its
// key is the number of the base's block, then the base's index in the block, x fastest in both. Kernels that
// include this declare DIMENSIONS first.
#ifndef SPARSE_BLOCKS
#define SPARSE_BLOCKS

struct BlockLattice {
    vec3 origin_m;
    float cells_per_m;
    // Number of blocks along each axis; 1 along the third in a plane.
    uvec3 blocks;
    // 1 for a spline of four nodes per axis, ½ for one of three.
    float shift_cells;
};

const uint BLOCK_SIDE = 4u; // nodes along each side of a block
const uint BLOCK_NODES = 1u << (2u * DIMENSIONS);
// Number of blocks that the particles based in a block can reach: itself and its neighbours towards larger
// coordinates.
const uint BLOCK_REACH = 1u << DIMENSIONS;

// Returns the position in cells. All kernels must agree on it to the bit, so nothing in it may be contracted.
vec3 place_in_cells(BlockLattice lattice, vec3 x_m) {
    precise vec3 xi = (x_m - lattice.origin_m) * lattice.cells_per_m;
    return DIMENSIONS == 3u ? xi : vec3(xi.xy, 0.0);
}

// Returns the lowest node a particle reaches, clamped to the lattice: a position that is not finite has a
// base, too.
uvec3 base_of(BlockLattice lattice, vec3 xi) {
    precise vec3 lowest = floor(xi - lattice.shift_cells);
    uvec3 last = BLOCK_SIDE * lattice.blocks - uvec3(BLOCK_SIDE);
    uvec3 base = uvec3(clamp(lowest, vec3(0.0), vec3(last)));
    base = min(base, last);
    return DIMENSIONS == 3u ? base : uvec3(base.xy, 0u);
}

uint block_number(BlockLattice lattice, uvec3 block) {
    return (block.z * lattice.blocks.y + block.y) * lattice.blocks.x + block.x;
}

uvec3 block_place(BlockLattice lattice, uint number) {
    uint rows = number / lattice.blocks.x;
    return uvec3(number % lattice.blocks.x, rows % lattice.blocks.y, rows / lattice.blocks.y);
}

uint node_number(uvec3 in_block) {
    uint plane = in_block.y * BLOCK_SIDE + in_block.x;
    return DIMENSIONS == 3u ? in_block.z * BLOCK_SIDE * BLOCK_SIDE + plane : plane;
}

uvec3 node_place(uint number) {
    return uvec3(number % BLOCK_SIDE, (number / BLOCK_SIDE) % BLOCK_SIDE, number / (BLOCK_SIDE * BLOCK_SIDE));
}

uint key_of(BlockLattice lattice, uvec3 base) {
    return block_number(lattice, base / BLOCK_SIDE) * BLOCK_NODES + node_number(base % BLOCK_SIDE);
}

uint block_of_key(uint key) { return key / BLOCK_NODES; }

// Returns step s of a block's reach: one block further along each axis whose bit is set.
uvec3 reach_step(uint s) { return uvec3(s & 1u, (s >> 1u) & 1u, (s >> 2u) & 1u); }

// Returns the location of a node at `base + k` of a particle based in a block: the step of the reach in the
// upper bits, the node in the lower.
uint reach_node(uvec3 base_in_block, uvec3 k) {
    uvec3 at = base_in_block + k;
    uvec3 over = at / BLOCK_SIDE;
    uint s = over.x | (over.y << 1u) | (over.z << 2u);
    return s * BLOCK_NODES + node_number(at % BLOCK_SIDE);
}

#endif
