#version 460
// Keeps the impulse Δ = v − u of the stresses of a step, per unit mass, as the start of the next one.
//
// Bytes: 36 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 2) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) writeonly buffer Impulse { vec3 impulse[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    impulse[i] = velocity[i] - updated[i];
}
