// Sums of the tiles of blocks at a node of an active block: a node is in the tiles of its own block and of
// the blocks before it, in a fixed order. Needs buffers `source`, `tile_momentum` and `tile_force`.
#include "mpm/tiles.glsl"

// Returns momentum and mass, and the force, of node n of active block a.
void sum_tiles(uint a, uint n, out vec4 momentum_and_mass, out vec3 pull) {
    uvec3 in_block = node_place(n);
    momentum_and_mass = vec4(0.0);
    pull = vec3(0.0);
    [[dont_unroll]] for (uint s = 0u; s < BLOCK_REACH; ++s) {
        uvec3 at = in_block + BLOCK_SIDE * reach_step(s);
        if (any(greaterThanEqual(at, uvec3(TILE_SIDE)))) continue;
        uint o = source[a * BLOCK_REACH + s];
        if (o == INVALID_INDEX) continue;
        uint from = o * TILE_NODES + tile_node(at);
        momentum_and_mass += tile_momentum[from];
        vec3 own = tile_force[from];
        pull += DIMENSIONS == 3u ? own : vec3(own.xy, 0.0);
    }
}
