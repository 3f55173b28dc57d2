#version 460
// Takes a step of conjugate residuals: v ← v + along p, z ← z − along q. Bytes: 72 a node. Order-independent.
// Elements: direction = threads * THREADS_PER_ITEM, applied_direction = threads * THREADS_PER_ITEM.
// Elements: node_velocity = threads * THREADS_PER_ITEM, residual = threads * THREADS_PER_ITEM.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
#include "mpm/solve.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Direction { vec3 direction[]; };
layout(scalar, binding = 2) readonly buffer AppliedDirection { vec3 applied_direction[]; };
layout(scalar, binding = 3) readonly buffer Solve { MpmSolve solve[]; };
layout(scalar, binding = 4) buffer NodeVelocity { vec3 node_velocity[]; };
layout(scalar, binding = 5) buffer Residual { vec3 residual[]; };

void main() {
    uint n = thread_idx();
    if (n / THREADS_PER_ITEM >= active_count[0] || solve[0].is_done != 0u) return;
    node_velocity[n] += solve[0].along * direction[n];
    residual[n] -= solve[0].along * applied_direction[n];
}
