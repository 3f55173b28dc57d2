// Tiles of nodes: one for each occupied block, of all nodes that the particles based in it reach. A tile has
// the nodes of its block and STENCIL − 1 more along each axis. Kernels that include this declare STENCIL and
// DIMENSIONS first.
#ifndef MPM_TILES
#define MPM_TILES
#include "sparse/blocks.glsl"

const uint TILE_SIDE = BLOCK_SIDE + STENCIL - 1u;
const uint TILE_NODES = TILE_SIDE * TILE_SIDE * ((DIMENSIONS - 2u) * TILE_SIDE + (3u - DIMENSIONS));

// Returns the index in its tile of a node at `at` from the first node of the block.
uint tile_node(uvec3 at) { return (at.z * TILE_SIDE + at.y) * TILE_SIDE + at.x; }

#endif
