// Rows of nodes that a particle reaches; along x they lie in one block or in two.
//
// Needs a buffer `target`.
struct NodeRow {
    // Index of the row's first node among all nodes, in the block of the particle's base and in the next one.
    uint here;
    uint next;
};

NodeRow row_of_nodes(uint reach, uvec3 base_in_block, uint y, uint z) {
    uvec3 at = base_in_block + uvec3(0u, y, z);
    uvec3 over = at / BLOCK_SIDE;
    uint s = (over.y << 1u) | (over.z << 2u);
    uint first = node_number(uvec3(0u, at.y % BLOCK_SIDE, at.z % BLOCK_SIDE));
    return NodeRow(target[reach + s] * BLOCK_NODES + first, target[reach + s + 1u] * BLOCK_NODES + first);
}

uint node_in_row(NodeRow row, uint x) { return x < BLOCK_SIDE ? row.here + x : row.next + x - BLOCK_SIDE; }
