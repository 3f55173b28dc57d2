#version 460
// Marks the first particle of each block, particles being sorted by key: is_first[i] is 1 where the block
// changes, else 0.
//
// Bytes: 8 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
#include "sparse/blocks.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) writeonly buffer First { uint is_first[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    is_first[i] = i == 0u || block_of_key(key[i]) != block_of_key(key[i - 1u]) ? 1u : 0u;
}
