#version 460
// Starts implicit viscosity from the impulse of the last step: v = u + Δ.
//
// Bytes: 36 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 2) readonly buffer Impulse { vec3 impulse[]; };
layout(scalar, binding = 3) writeonly buffer Velocity { vec3 velocity[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    velocity[i] = updated[i] + impulse[i];
}
