#version 460
// Computes the boundary density of bodies (pbd/boundary_density.glsl) at each particle: h times its gradient,
// and its value over ρ₀. The density constraints add it to the contribution of the domain's walls. With
// HAS_RATE bodies are where they are at the start of the step, and two more are stored: the product of the
// gradient with their velocity, and the contact with the nearest body within h, its normal n and the least
// velocity along it with which a particle ends the step at the clearance, n·v ≥ (clearance − distance)/Δt +
// n·v_body.
//
// Bytes: 28 a particle, 48 with HAS_RATE. Order-independent.
// Elements: boundary_rate_m_s = threads * HAS_RATE, contact = threads * HAS_RATE.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BODY_KINDS = 0xe00df;
layout(constant_id = 2) const uint HAS_RATE = 0;
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
layout(scalar, binding = 6) writeonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 7) writeonly buffer BoundaryRate { float boundary_rate_m_s[]; };
layout(scalar, binding = 8) writeonly buffer Contact { vec4 contact[]; };
#include "common/surfaces.glsl"
#include "pbd/boundary_density.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    BodyTerms t = terms[0];
    float start_s = substep_start_s(clock[0], t.dt_s);
    float time_s = HAS_RATE != 0u ? start_s : substep_end_s(clock[0], t.dt_s);
    vec3 x = predicted[i];
    float scale = t.walls.fraction_scale;
    vec4 density = vec4(0.0);
    float rate_m_s = 0.0;
    float nearest_m = t.support_m;
    vec4 nearest = vec4(0.0);
    [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
        Body body = bodies[k];
        Pose pose = pose_of(body, time_s);
        vec4 added = boundary_density_of(t.up_axis, body, pose, x, t.support_m, scale);
        if (HAS_RATE != 0u && added.w > 0.0) {
            vec3 v = velocity_of(body, pose, x);
            rate_m_s = rate_m_s * (1.0 - added.w) + dot(added.xyz, v) * (1.0 - density.w);
            vec4 surface = surface_of(t.up_axis, body, pose, x);
            if (surface.w < nearest_m) {
                nearest_m = surface.w;
                nearest = vec4(surface.xyz, (t.clearance_m - surface.w) / t.dt_s + dot(surface.xyz, v));
            }
        }
        density = combine_boundary_densities(density, added);
    }
    boundary_density[i] = density;
    if (HAS_RATE != 0u) {
        boundary_rate_m_s[i] = rate_m_s;
        contact[i] = nearest;
    }
}
