#version 460
// Takes a step of conjugate gradients: v ← v + along p, r ← r − along (I − Δt a) p, and computes r·r.
//
// Bytes: 76 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "viscoelastic/solve.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Solve { ViscositySolve solve[]; };
layout(scalar, binding = 2) readonly buffer Direction { vec3 direction[]; };
layout(scalar, binding = 3) readonly buffer Applied { vec3 applied[]; };
layout(scalar, binding = 4) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 5) buffer Residual { vec3 residual[]; };
layout(scalar, binding = 6) writeonly buffer Product { float product[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    velocity[i] += solve[0].along * direction[i];
    vec3 r = residual[i] - solve[0].along * applied[i];
    residual[i] = r;
    product[i] = dot(r, r);
}
