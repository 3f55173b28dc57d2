#version 460
// Inverts a permutation: new_place[order[i]] = i, for i below count[0]. Old places without a new one keep
// their value in new_place, which is INVALID_INDEX; an order of INVALID_INDEX, for a new particle, is
// skipped.
//
// Bytes: 8 a particle. Order-independent: the places in `order` are distinct.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) writeonly buffer NewPlace { uint new_place[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint from = order[i];
    if (from < new_place.length()) new_place[from] = i;
}
