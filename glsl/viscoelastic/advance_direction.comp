#version 460
// Computes the next direction of conjugate gradients: p ← r + keep p.
//
// Bytes: 36 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "viscoelastic/solve.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Solve { ViscositySolve solve[]; };
layout(scalar, binding = 2) readonly buffer Residual { vec3 residual[]; };
layout(scalar, binding = 3) buffer Direction { vec3 direction[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    direction[i] = residual[i] + solve[0].keep * direction[i];
}
