#version 460
// Keeps the order of particles as it is if blocks exceed a capacity: order[i] = i, else nothing.
//
// Bytes: 8, or 4 a particle if they do. Order-independent.
// Elements: required = 2, order = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Required { uint required[]; };
layout(scalar, binding = 2) writeonly buffer Order { uint order[]; };
layout(scalar, push_constant) uniform Params { uint capacity[2]; };

void main() {
    uint i = thread_idx();
    bool is_full = required[0] > capacity[0] || required[1] > capacity[1];
    RARELY(is_full && i < count[0]) order[i] = i;
}
