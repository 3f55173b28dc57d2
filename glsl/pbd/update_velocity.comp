#version 460
// Computes velocities after the constraints: u = v + (x* − (x + Δt v))/Δt, which is (x* − x)/Δt of Chen2021
// fig 5.1b without its rounding.
//
// A position of a few metres has an ulp of about 1e-7 m, and Δt² g is only a few hundred of those: computed
// from positions alone, the velocity would lose up to half an ulp every step, always with the same sign. Here
// it changes only by the corrections of the constraints.
// Bytes: 48 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) writeonly buffer Updated { vec3 updated[]; };
layout(scalar, push_constant) uniform Params { float dt_s; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 v = velocity[i];
    // Repeats the arithmetic of predict, so that a particle that no constraint moved keeps its velocity to
    // the bit.
    precise vec3 step_m = dt_s * v;
    precise vec3 unconstrained = position[i] + step_m;
    updated[i] = v + (predicted[i] - unconstrained) / dt_s;
}
