#version 460
// Keeps velocities from moving particles into bodies, and sums the impulses on bodies, those of the pressure
// included: with the distance s of a particle at the start of the step, the normal n there and the clearance,
//   v_i ← v_i + max(0, (clearance − s)/Δt − n·(v_i − v_body)) n.
// unless the particle ends the step at the clearance or farther. Impulses act where particles are at the
// start of the step, so that angular momentum is exchanged without a loss; what the curvature of a surface
// leaves of the distance is made up for in the next step.
//
// Bytes: 32 a particle, 36 more near a body. Sums of integers: order-independent.
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
layout(scalar, binding = 5) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 6) readonly buffer Multiplier { float multiplier[]; };
layout(scalar, binding = 7) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 8) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 9) buffer Sums { uint sums[]; };
#include "common/surfaces.glsl"
#include "common/fixed.glsl"
#include "pbd/boundary_density.glsl"

// Adds the impulse on body k that is opposite to a change of a particle's velocity at x.
void add_impulse(BodyTerms t, uint k, Body body, Pose pose, vec3 change_m_s, vec3 x) {
    vec3 arm_m = x - torque_centre(body, pose);
    add_impulse_on_body(k, t.first_named, -t.particle_mass_kg * change_m_s, arm_m, t.quanta_per_n_s);
}

// Adds the impulses of the pressure.
void add_pressure(BodyTerms t, vec3 x, float lambda, float total_density, float time_s) {
    // A body's gradient contributes in the fraction that neither the walls nor the other bodies cut off.
    float open = domain_term(t.walls, x, t.support_m).open * (1.0 - total_density);
    float along_m_s = t.support_m / t.dt_s * lambda * open;
    [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
        Body body = bodies[k];
        Pose pose = pose_of(body, time_s);
        float scale = t.walls.fraction_scale;
        vec4 density = boundary_density_of(t.up_axis, body, pose, x, t.support_m, scale);
        if (!(density.w > 0.0)) continue;
        add_impulse(t, k, body, pose, along_m_s / max(1.0 - density.w, 1e-6) * density.xyz, x);
    }
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    BodyTerms t = terms[0];
    float time_s = substep_start_s(clock[0], t.dt_s);
    vec3 x = position[i];
    vec3 v = velocity[i];
    if (boundary_density[i].w > 0.0 && multiplier[i] != 0.0)
        add_pressure(t, x, multiplier[i], boundary_density[i].w, time_s);
    bool was_moved = false;
    [[dont_unroll]] for (uint sweep = 0u; sweep < 3u; ++sweep) {
        bool is_moving = false;
        [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
            Body body = bodies[k];
            Pose pose = pose_of(body, time_s);
            vec4 surface = surface_of(t.up_axis, body, pose, x);
            float approach_m_s = -dot(surface.xyz, v - velocity_of(body, pose, x));
            float change_m_s = (t.clearance_m - surface.w) / t.dt_s + approach_m_s;
            if (!(change_m_s > 1e-5 * t.clearance_m / t.dt_s)) continue;
            // Beside a convex edge, a particle may cross the plane without meeting the body.
            vec3 to = x + t.dt_s * v;
            if (surface_of(t.up_axis, body, to, time_s + t.dt_s).w >= t.clearance_m) continue;
            v += change_m_s * surface.xyz;
            is_moving = true;
            add_impulse(t, k, body, pose, change_m_s * surface.xyz, x);
        }
        if (!is_moving) break;
        was_moved = true;
    }
    if (was_moved) velocity[i] = v;
}
