#version 460
// Scales the multipliers from which the next step begins, to another length of it: λ is a pressure times Δt².
//
// Bytes: 8 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) buffer Multiplier { float multiplier[]; };
layout(scalar, push_constant) uniform Params { float factor; };

void main() {
    uint i = thread_idx();
    if (i < count[0]) multiplier[i] *= factor;
}
