#version 460
// Computes velocities after the constraints: u = v + (x* − (x + Δt v))/Δt, which is (x* − x)/Δt of Chen2021
// fig 5.1b without its rounding.
//
// A position of a few metres has an ulp of about 1e-7 m, and Δt² g is only a few hundred of those: computed
// from positions alone, the velocity would lose up to half an ulp every step, always with the same sign. Here
// it changes only by the corrections of the constraints, and by all of their sum: the residual of x* holds
// what its ulp does not resolve (solve_positions.comp).
//
// Also finds faults (fault.glsl), since it reads all of the state that a step has changed but the density:
// keeps the lowest index of each kind, whatever the order of threads.
//
// Bytes: 88 a particle; 4 of them are the density. Order-independent.
// Elements: faulty = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/fault.glsl"
#include "pbd/motion.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) writeonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 5) readonly buffer Density { float density[]; };
// Lowest index of a particle with each kind of fault, and the bits of the largest speed.
layout(scalar, binding = 6) buffer Faulty { uint faulty[]; };
layout(scalar, binding = 7) readonly buffer Residual { vec3 residual_m[]; };
layout(scalar, binding = 8) readonly buffer NextResidual { vec3 next_residual_m[]; };
layout(scalar, push_constant) uniform Params {
    float dt_s;
    FaultLimits limits;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 v = velocity[i];
    // As in predict, so that a particle that no constraint moved keeps its velocity to the bit.
    vec3 x = position[i];
    vec3 rest_m;
    vec3 unconstrained = moved(x, residual_m[i], v, dt_s, rest_m);
    vec3 constrained = predicted[i];
    precise vec3 moved_m = (constrained - unconstrained) + (next_residual_m[i] - rest_m);
    vec3 u = v + moved_m / dt_s;
    updated[i] = u;
    uint kind = fault_of(limits, x, v, constrained, u, density[i]);
    if (kind == FAULT_KINDS) return;
    atomicMin(faulty[fault_slot(kind, limits.phase)], i);
    // Bits of numbers above 0 have their order.
    if (kind == FAULT_TOO_FAST) atomicMax(faulty[fastest_slot(limits.phase)], floatBitsToUint(speed_of(v, u)));
}
