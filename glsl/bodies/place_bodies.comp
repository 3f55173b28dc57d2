#version 460
// Sets the poses and velocities of dynamic bodies in a step, at which particles meet them: at the start of
// the running step or, between two, now. The angular velocity is that of the middle of the step, so that
// tumbling conserves angular momentum exactly and energy to the second order. Also writes the poses for
// pictures and recordings. One thread a body.
//
// Bytes: 284 a body. Order-independent.
// Elements: clock = all, bodies = all, body_data = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bodies/dynamic_body.glsl"
#include "common/body.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) buffer BodyData { float body_data[]; };

layout(scalar, binding = 1) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 2) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 3) readonly buffer Shapes { RigidShape shapes[]; };
layout(scalar, binding = 4) buffer States { RigidState states[]; };
layout(scalar, binding = 5) writeonly buffer Centre { vec3 centre_m[]; };
layout(scalar, binding = 6) writeonly buffer Rotation { vec4 rotation[]; };
layout(scalar, binding = 7) writeonly buffer Turn { vec3 turn[]; };
layout(scalar, binding = 8) writeonly buffer Velocity { vec3 velocity_m_s[]; };
layout(scalar, push_constant) uniform Params {
    uint n_bodies;
    float dt_s;
    // 1 in a step, 0 between two.
    uint is_in_step;
};

void store(uint at, vec3 v) {
    body_data[at] = v.x;
    body_data[at + 1u] = v.y;
    body_data[at + 2u] = v.z;
}

void main() {
    uint k = thread_idx();
    if (k >= n_bodies) return;
    RigidShape shape = shapes[k];
    RigidState state = states[k];
    uint at = bodies[shape.body].first_motion;
    vec3 spin = by_inverse_inertia(shape, state.rotation, state.angular_momentum_kg_m2_s);
    vec4 half_way = after_turn(state.rotation, 0.5 * dt_s * spin);
    spin = by_inverse_inertia(shape, half_way, state.angular_momentum_kg_m2_s);
    states[k].angular_velocity_rad_s = spin;
    store(at + 3u, state.offset_m);
    store(at + 6u, state.rotation.xyz);
    body_data[at + 9u] = state.rotation.w;
    store(at + 10u, state.velocity_m_s);
    store(at + 13u, spin);
    bool is_start = is_in_step != 0u;
    body_data[at + 16u] = is_start ? substep_start_s(clock[0], dt_s) : substep_end_s(clock[0], dt_s);
    body_data[at + 17u] = dt_s;
    centre_m[k] = vec3(body_data[at], body_data[at + 1u], body_data[at + 2u]) + state.offset_m;
    rotation[k] = state.rotation;
    turn[k] = rotation_vector(state.rotation);
    velocity_m_s[k] = state.velocity_m_s;
}
