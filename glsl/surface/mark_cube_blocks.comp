#version 460
// Marks the blocks of cubes that may contain surface: each block of nodes, and those a step below it along
// any axes, one bit each.
//
// `marked` is all 0 before. Bytes: 4 a block of nodes, eight atomic ors. Order-independent, since or is
// commutative.
// Elements: marked = threads * THREADS_PER_ITEM.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 8;
const uint DIMENSIONS = 3u;
#include "surface/lattice.glsl"

layout(scalar, binding = 0) readonly buffer BlockCount { uint block_count[]; };
layout(scalar, binding = 1) readonly buffer Block { uint block[]; };
layout(scalar, binding = 2) buffer Marked { uint marked[]; };
layout(scalar, push_constant) uniform Params { BlockLattice lattice; };

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint s = thread_idx() % THREADS_PER_ITEM;
    if (a >= block_count[0]) return;
    uvec3 place = block_place(lattice, block[a]);
    // The number is not that of a block of the lattice.
    if (place.z >= lattice.blocks.z) return;
    uint number = cube_block_number(lattice, ivec3(place) - ivec3(reach_step(s)));
    atomicOr(marked[number / BITS], 1u << (number % BITS));
}
