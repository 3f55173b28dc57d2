#version 460
// Finds the key of each particle: the block of its base node, and the base's place in the block.
//
// Keys stay as they are if hold[0] is not INVALID_INDEX. Bytes: 16 a particle (position 12, key 4).
// Order-independent.
// Elements: hold = 1.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
#include "sparse/blocks.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) writeonly buffer Key { uint key[]; };
layout(scalar, binding = 3) readonly buffer Hold { uint hold[]; };
layout(scalar, push_constant) uniform Params { BlockLattice lattice; };

void main() {
    uint i = thread_idx();
    if (i >= count[0] || hold[0] != INVALID_INDEX) return;
    key[i] = key_of(lattice, base_of(lattice, place_in_cells(lattice, position[i])));
}
