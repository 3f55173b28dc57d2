#version 460
// Computes predicted positions x* = confine(x + Δt v) and their residuals (motion.glsl), in the sorted order;
// Chen2021 fig 5.1b.
//
// Bytes: 60 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/motion.glsl"
#include "pbd/walls.glsl"

// Periodic axes, a bit each.
layout(constant_id = 1) const uint PERIODIC = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) writeonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer Residual { vec3 residual_m[]; };
layout(scalar, binding = 5) writeonly buffer NextResidual { vec3 next_residual_m[]; };
layout(scalar, push_constant) uniform Params {
    Walls walls;
    float dt_s;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 rest_m;
    vec3 unconstrained = moved(position[i], residual_m[i], velocity[i], dt_s, rest_m);
    vec3 confined = confine(walls, PERIODIC, unconstrained);
    predicted[i] = confined;
    next_residual_m[i] = residual_after(rest_m, unconstrained, confined);
}
