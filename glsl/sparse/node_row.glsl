// Rows of nodes that a particle reaches; along x they lie in one block or in two.
//
// Needs a buffer `target` of uvec4, four steps of a block's reach each.
struct NodeRow {
    // Index of the row's first node among all nodes, in the block of the particle's base and in the next one.
    uint here;
    uint next;
};

// Returns the targets of a block for the nodes z above the particle's base.
uvec4 targets_of_plane(uint block, uvec3 base_in_block, uint z) {
    return target[block * (BLOCK_REACH / 4u) + (base_in_block.z + z) / BLOCK_SIDE];
}

NodeRow row_of_nodes(uvec4 targets, uvec3 base_in_block, uint y, uint z) {
    uvec3 at = base_in_block + uvec3(0u, y, z);
    uvec2 blocks = at.y < BLOCK_SIDE ? targets.xy : targets.zw;
    uint first = node_number(uvec3(0u, at.y % BLOCK_SIDE, at.z % BLOCK_SIDE));
    return NodeRow(blocks.x * BLOCK_NODES + first, blocks.y * BLOCK_NODES + first);
}

uint node_in_row(NodeRow row, uint x) { return x < BLOCK_SIDE ? row.here + x : row.next + x - BLOCK_SIDE; }
