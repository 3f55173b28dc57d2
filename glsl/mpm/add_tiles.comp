#version 460
// Sums the tiles of blocks (rasterize_tiles.comp) at each node of the active blocks, like update_nodes.comp,
// where nothing else is to be done with a node: for the initial volumes.
//
// Bytes: 28 a node written, and 28 for each node of a tile read. Order-independent.
// Elements: source = threads << DIMENSIONS, tile_momentum = all, tile_force = all.
// Elements: momentum = threads * BLOCK_NODES, force = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
layout(constant_id = 3) const uint STENCIL = 4;
#include "sparse/blocks.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Source { uint source[]; };
layout(scalar, binding = 2) readonly buffer TileMomentum { vec4 tile_momentum[]; };
layout(scalar, binding = 3) readonly buffer TileForce { vec3 tile_force[]; };
layout(scalar, binding = 4) writeonly buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 5) writeonly buffer Force { vec3 force[]; };

#include "mpm/tile_sums.glsl"

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (a >= active_count[0]) return;
    uint at = a * BLOCK_NODES + n;
    sum_tiles(a, n, momentum[at], force[at]);
}
