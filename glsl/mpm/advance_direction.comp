#version 460
// Computes the next direction of conjugate residuals: p ← z + keep p, q ← w + keep q. Bytes: 72 a node.
// Order-independent.
// Elements: residual = threads * THREADS_PER_ITEM, applied = threads * THREADS_PER_ITEM.
// Elements: direction = threads * THREADS_PER_ITEM, applied_direction = threads * THREADS_PER_ITEM.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
#include "mpm/solve.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Residual { vec3 residual[]; };
layout(scalar, binding = 2) readonly buffer Applied { vec3 applied[]; };
layout(scalar, binding = 3) readonly buffer Solve { MpmSolve solve[]; };
layout(scalar, binding = 4) buffer Direction { vec3 direction[]; };
layout(scalar, binding = 5) buffer AppliedDirection { vec3 applied_direction[]; };

void main() {
    uint n = thread_idx();
    if (n / THREADS_PER_ITEM >= active_count[0] || solve[0].is_done != 0u) return;
    // The old contents are ignored for the first direction, even if they are not finite.
    bool is_first = solve[0].iterations == 0u;
    direction[n] = is_first ? residual[n] : residual[n] + solve[0].keep * direction[n];
    applied_direction[n] = is_first ? applied[n] : applied[n] + solve[0].keep * applied_direction[n];
}
