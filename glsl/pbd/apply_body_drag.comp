#version 460
// Applies the drag of bodies on water, the counterpart of the drag of walls in smooth_velocity:
//   v_i ← v_i − c Σ_k s_k (boundary density of k) (u_i − v_k(x_i)),
// with v_k(x) the velocity of the body's point at x, so that a spinning drum drags water along. A sticky body
// has c s = 1. c is 0 unless XSPH has a coefficient per step; without [snow] the drag of viscosity is added,
// along the body's surface: ν̂ s G(distance), as on walls. The opposite impulse acts on the body.
//
// Bytes: 16 a particle, 36 more near a body. Sums of integers: order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BODY_KINDS = 0xe00df;
const uint DIMENSIONS = 3u;
#include "common/clock.glsl"
#include "pbd/body_terms.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { BodyTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 3) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 4) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 5) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 6) readonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 7) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 8) buffer Sums { uint sums[]; };
layout(scalar, push_constant) uniform Params {
    float xsph_viscosity;
    float viscosity_share;
    float particles_h3;
    // 1 if positions are those at the start of the step.
    uint is_at_start;
};
#include "common/surfaces.glsl"
#include "common/fixed.glsl"
#include "pbd/boundary_density.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    BodyTerms t = terms[0];
    float start_s = substep_start_s(clock[0], t.dt_s);
    float time_s = is_at_start != 0u ? start_s : substep_end_s(clock[0], t.dt_s);
    vec3 x = predicted[i];
    vec3 u = updated[i];
    float open = domain_term(t.walls, x, t.support_m).open;
    vec3 change = vec3(0.0);
    float scale = t.walls.fraction_scale;
    [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
        Body body = bodies[k];
        Pose pose = pose_of(body, time_s);
        float density = boundary_density_of(t.up_axis, body, pose, x, t.support_m, scale).w;
        if (!(density > 0.0)) continue;
        float friction = body.friction >= 0.0 ? body.friction : t.wall_friction;
        float gain = body.is_sticky != 0u ? 1.0 : min(xsph_viscosity * friction, 1.0);
        vec3 difference = velocity_of(body, pose_of(body, start_s), x) - u;
        vec3 drag = gain * open * density * difference;
        if (viscosity_share != 0.0) {
            vec4 surface = surface_of(t.up_axis, body, pose, x);
            vec3 along = difference - dot(difference, surface.xyz) * surface.xyz;
            float rate = viscosity_share * particles_h3 * no_slip_drag(surface.w / t.support_m);
            drag += min(friction * rate, 1.0) * along;
        }
        open *= 1.0 - density;
        change += drag;
        vec3 arm = x - torque_centre(body, pose);
        add_impulse_on_body(k, t.first_named, -t.particle_mass_kg * drag, arm, t.quanta_per_n_s);
    }
    if (change != vec3(0.0)) velocity[i] += change;
}
