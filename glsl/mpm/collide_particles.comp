#version 460
// Runs steps 9 and 10 for a particle in a scene with bodies, or of AFLIP: collisions of its own velocity
// (Breekveldt2017 sec 3.2.9), then x ← x + Δt v, and the push out of bodies that it ended in (Cai2020 step
// 8). With AFLIP it moves by the velocity of the grid, so that its own, which the grid does not damp in each
// step, does not displace it against its neighbours.
//
// Impulses on named bodies are summed in integers. Bytes: 72 a particle, 24 more with AFLIP.
// Order-independent, except for the choice of the first fault, which is the one with the lowest index.
// Elements: body_data = 0, clock = 0, fault = 0, sums = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
layout(constant_id = 2) const uint BODY_KINDS = 0xe00df;
// 1 if loads on some bodies are measured.
layout(constant_id = 3) const uint HAS_NAMED_BODIES = 0;
// 1 if apply_contact runs next, which pushes particles out.
layout(constant_id = 4) const uint HAS_CONTACT_FORCES = 0;
// 1 if particles move by the velocity of the grid.
layout(constant_id = 5) const uint MOVES_WITH_GRID = 0;
#include "mpm/tensors.glsl"
#include "mpm/snow.glsl"
#include "common/body.glsl"
#include "common/clock.glsl"
#include "mpm/fault.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 3) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 4) buffer Residual { vec3 residual[]; };
layout(scalar, binding = 5) buffer Position { vec3 position[]; };
layout(scalar, binding = 6) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 7) buffer Fault { MpmFault fault[]; };
layout(scalar, binding = 8) readonly buffer Mass { float mass[]; };
layout(scalar, binding = 9) buffer Sums { uint sums[]; };
layout(scalar, binding = 10) buffer Clock { StepClock clock[]; };
layout(scalar, binding = 11) buffer GridVelocity { vec3 grid_velocity[]; };

#include "common/fixed.glsl"
const uint ONLY_STICKY = 0u;
const uint HAS_BODIES = 1u;
#include "mpm/bodies.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (is_frozen(clock[0])) return;
    MpmTerms t = terms[0];
    float time_s = substep_start_s(clock[0], t.dt_s);
    vec3 x = position[i];
    vec3 v = velocity[i];
    COLLIDE_AND_MEASURE(t, x, 0.0, time_s, mass[i], v);
    vec3 motion = v;
    if (MOVES_WITH_GRID != 0u) {
        motion = grid_velocity[i];
        COLLIDE(t, x, 0.0, time_s, motion);
        grid_velocity[i] = motion;
    }
    vec3 lost;
    vec3 free = moved(x, residual[i], motion, t.dt_s, lost);
    vec3 next = free;
    if (HAS_CONTACT_FORCES == 0u) {
        PUSH_OUT(t, next, time_s);
    }
    if (DIMENSIONS == 2u) next.z = x.z;
    velocity[i] = v;
    position[i] = next;
    residual[i] = residual_after(lost, free, next);

    if (!(is_sound_motion(t, next, v) && is_sound_motion(t, next, motion))) RECORD_FAULT(i)
}
