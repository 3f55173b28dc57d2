#version 460
// Sums the tiles of blocks (rasterize_tiles.comp) at each node of the active blocks: mass, momentum and force
// of steps 1 and 3. A node is in the tiles of its own block and of the blocks before it, in a fixed order.
//
// Bytes: 28 a node written, and 28 for each node of a tile read. Order-independent.
// Elements: source = threads << DIMENSIONS, tile_momentum = all, tile_force = all.
// Elements: momentum = threads * BLOCK_NODES, force = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
layout(constant_id = 3) const uint STENCIL = 4;
#include "mpm/tiles.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Source { uint source[]; };
layout(scalar, binding = 2) readonly buffer TileMomentum { vec4 tile_momentum[]; };
layout(scalar, binding = 3) readonly buffer TileForce { vec3 tile_force[]; };
layout(scalar, binding = 4) writeonly buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 5) writeonly buffer Force { vec3 force[]; };

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (a >= active_count[0]) return;
    uvec3 in_block = node_place(n);
    vec4 sum = vec4(0.0);
    vec3 pull = vec3(0.0);
    [[dont_unroll]] for (uint s = 0u; s < BLOCK_REACH; ++s) {
        uvec3 at = in_block + BLOCK_SIDE * reach_step(s);
        if (any(greaterThanEqual(at, uvec3(TILE_SIDE)))) continue;
        uint o = source[a * BLOCK_REACH + s];
        if (o == INVALID_INDEX) continue;
        uint from = o * TILE_NODES + tile_node(at);
        sum += tile_momentum[from];
        pull += tile_force[from];
    }
    momentum[a * BLOCK_NODES + n] = sum;
    force[a * BLOCK_NODES + n] = pull;
}
