#version 460
// Computes the first residual of the nodes, z = v* − B v*, in the directions that surfaces leave free. Bytes:
// 48 a node. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
#include "mpm/solve.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer NodeVelocity { vec3 node_velocity[]; };
layout(scalar, binding = 2) readonly buffer Applied { vec3 applied[]; };
layout(scalar, binding = 3) readonly buffer Held { vec3 held[]; };
layout(scalar, binding = 4) writeonly buffer Residual { vec3 residual[]; };

void main() {
    uint n = thread_idx();
    if (n / THREADS_PER_ITEM >= active_count[0]) return;
    residual[n] = left_free(held[n], node_velocity[n]) - applied[n];
}
