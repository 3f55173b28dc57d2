#version 460
// Drag of bodies on water, the other half of what smooth_velocity does with the walls of the domain:
//   v_i ← v_i − c Σ_k s_k (share of k) (u_i − v_k(x_i)),
// v_k(x) being the velocity of the body's point at x, so that a drum that spins takes water along. A sticky body has c s = 1. Its opposite acts on the body.
//
// Bytes: 16 a particle, 36 more near a body. Sums of integers: order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_MESHES = 0;
const uint DIMENSIONS = 3u;
#include "pbd/body_terms.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { BodyTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Steps { uint steps[]; };
layout(scalar, binding = 3) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 4) readonly buffer Heights { float heights[]; };
layout(scalar, binding = 5) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 6) readonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 7) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 8) buffer Sums { uint sums[]; };
layout(scalar, push_constant) uniform Params { float xsph_viscosity; };
#include "common/surfaces.glsl"
#include "common/fixed.glsl"
#include "pbd/cut_off.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    BodyTerms t = terms[0];
    float time_s = step_time_s(steps[0], 1u, t.dt_s);
    vec3 x = predicted[i];
    vec3 u = updated[i];
    float open = domain_term(t.walls, x, t.support_m).open;
    vec3 change = vec3(0.0);
    [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
        Body body = bodies[k];
        float share = cut_off_by(t.up_axis, body, x, time_s, t.support_m, t.walls.fraction_scale).w;
        if (!(share > 0.0)) continue;
        float friction = body.friction >= 0.0 ? body.friction : t.wall_friction;
        float gain = body.is_sticky != 0u ? 1.0 : min(xsph_viscosity * friction, 1.0);
        vec3 taken = gain * open * share * (velocity_of(body, x, step_time_s(steps[0], 0u, t.dt_s)) - u);
        open *= 1.0 - share;
        change += taken;
        add_force(k, -t.particle_mass_kg * taken, t.quanta_per_n_s);
        add_torque(k, -t.particle_mass_kg * cross(x - centre_of(body, time_s), taken), t.quanta_per_n_s);
    }
    if (change != vec3(0.0)) velocity[i] += change;
}
