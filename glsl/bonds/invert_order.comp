#version 460
// Where each old place went: new_place[order[i]] = i, for i below count[0]. Places that nothing came from keep what new_place held,
// which is INVALID_INDEX; so does an order of INVALID_INDEX, a particle that was not here before.
//
// Bytes: 8 a particle. Order-independent: no place is left twice.
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
