#version 460
// Moves dynamic bodies by a step, and changes their velocities by the loads of the particles in it and by
// gravity: x ← x + Δt v, q ← exp(Δt ω) q, then p ← p + Δp, L ← L + ΔL. One thread a body.
//
// Particles around a body take part in its acceleration: their inertia is that of an added mass m_a. A load
// that is known only after the step has the reaction to the body's acceleration in the step before, so that
// Δp = Δt (F + m g) alone diverges for m < m_a. Δp = (Δt (F + m g) m + Δp' m_a)/(m + m_a), with Δp' of the
// step before, is stable for any mass, exact for a constant force, and conserves m v + (m_a/m) Δp. After a
// step of another length Δp' is multiplied by the ratio r of lengths, and p ← p + (1 − r) (m_a/m) Δp' for it.
//
// Bytes: 328 a body. Order-independent.
// Elements: clock = all, loads = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bodies/dynamic_body.glsl"
#include "common/body_load.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 1) readonly buffer Loads { BodyLoad loads[]; };
layout(scalar, binding = 2) readonly buffer Shapes { RigidShape shapes[]; };
layout(scalar, binding = 3) buffer States { RigidState states[]; };
layout(scalar, push_constant) uniform Params {
    uint n_bodies;
    float dt_s;
    vec3 gravity_m_s2;
};

// Returns the momentum that is no longer repeated, for a ratio r of lengths, if the share m_a/(m + m_a) is.
vec3 left_out(float ratio, float share, vec3 gained) {
    return (1.0 - ratio) * share / (1.0 - share) * gained;
}

void main() {
    uint k = thread_idx();
    if (k >= n_bodies || has_fault(clock[0]) || is_frozen(clock[0])) return;
    RigidShape shape = shapes[k];
    RigidState state = states[k];
    BodyLoad load = loads[shape.load];
    add_compensated(state.offset_m, state.offset_rest_m, dt_s * state.velocity_m_s);
    state.rotation = after_turn(state.rotation, dt_s * state.angular_velocity_rad_s);
    // Equal lengths have the ratio 1 also where a division is rounded.
    float ratio = dt_s == state.gained_in_s ? 1.0 : dt_s / state.gained_in_s;
    state.velocity_m_s += left_out(ratio, shape.repeated, state.gained_n_s) / shape.mass_kg;
    state.angular_momentum_kg_m2_s += left_out(ratio, shape.repeated_angular, state.gained_n_m_s);
    state.gained_in_s = dt_s;
    vec3 gained = dt_s * (load.force_n + shape.mass_kg * gravity_m_s2);
    state.gained_n_s = mix(gained, ratio * state.gained_n_s, shape.repeated);
    state.gained_n_m_s = mix(dt_s * load.torque_n_m, ratio * state.gained_n_m_s, shape.repeated_angular);
    state.velocity_m_s += state.gained_n_s / shape.mass_kg;
    state.angular_momentum_kg_m2_s += state.gained_n_m_s;
    states[k] = state;
}
