#version 460
// Projects predicted positions out of bodies, at least the clearance away from each, and back into the
// domain: no particle ends a step in a solid. Sums the impulse on each body: of these projections, and of the
// correction by the density constraint along the gradient of the boundary density,
//   Δx_i = ω h λ_i h∇(boundary density),  J = −m Δx / Δt.
// Between bodies closer than two clearances the last one takes precedence; the domain takes precedence over
// all.
//
// `push` stores the displacement of a particle by bodies in this step for the friction of snow, and in w the
// number of the last of these bodies plus one. A particle that has moved by half the skin of the rows of
// neighbours sets the flag of the next iteration, as in solve_positions.comp.
// Bytes: 24 a particle, 32 more near a body. Sums of integers: order-independent.
// Elements: rows = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BODY_KINDS = 0xe00df;
// 1 if displacements are stored.
layout(constant_id = 2) const uint HAS_PUSH = 0;
// 1 for snow whose particles are not as large as those of water.
layout(constant_id = 3) const uint IS_EXPANDED = 0;
const uint DIMENSIONS = 3u;
#include "common/clock.glsl"
#include "pbd/body_terms.glsl"
#include "common/body.glsl"
#include "pbd/neighbour_rows.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { BodyTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 3) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 4) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 5) readonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 6) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 7) buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 8) buffer Push { vec4 push[]; };
layout(scalar, binding = 9) buffer Sums { uint sums[]; };
layout(scalar, binding = 10) readonly buffer Listed { vec3 listed[]; };
layout(scalar, binding = 11) buffer Rows { uint rows[]; };
// (α, constraints) of snow.
layout(scalar, binding = 12) readonly buffer Contact { vec2 contact[]; };
layout(scalar, push_constant) uniform Params {
    // Minimum distance from bodies in clearances: after collide_with_bodies.comp, which keeps the clearance
    // to the first order in the step, less than 1.
    float distance_share;
    // 1 for the first projection of a step.
    uint is_first;
    // 1 after a correction by the density constraint, which has included boundary_density.
    uint is_corrected;
    // Share of the displacement so far that is taken back first: with the springs of snow it follows their
    // forces from iteration to iteration.
    float undone;
    float inverse_h;
    // Square of the distance in h by which particles may have moved since they were listed.
    float max_moved_q2;
    // Flag of the next iteration in the rows, or INVALID_INDEX where there are none.
    uint row_flag;
};
#include "common/surfaces.glsl"
#include "common/fixed.glsl"
#include "pbd/boundary_density.glsl"

// Moves a position out of a body until it is at least the clearance away; several surfaces of it may meet.
// Returns true if it was moved.
bool leave_body(float clearance_m, uint up_axis, Body body, Pose pose, inout vec3 x_m) {
    bool was_near = false;
    [[dont_unroll]] for (uint attempt = 0u; attempt < 4u; ++attempt) {
        vec4 surface = surface_of(up_axis, body, pose, x_m);
        float push_m = clearance_m - surface.w;
        if (!(push_m > 1e-5 * clearance_m)) break;
        x_m += push_m * surface.xyz;
        was_near = true;
    }
    return was_near;
}

// Adds the impulse on body k that is opposite to a displacement of a particle with this moment arm.
void add_impulse(BodyTerms t, uint k, vec3 displacement_m, vec3 arm_m) {
    vec3 impulse = -(t.particle_mass_kg / t.dt_s) * displacement_m;
    add_impulse_on_body(k, t.first_named, impulse, arm_m, t.quanta_per_n_s);
}

// Adds the impulses of the correction by the density constraint.
void add_corrections(BodyTerms t, float time_s, vec4 own, float total_density) {
    vec3 x = own.xyz;
    // A body's gradient contributes in the fraction that neither the walls nor the other bodies cut off.
    float open = domain_term(t.walls, x, t.support_m).open * (1.0 - total_density);
    float along = t.over_relaxation * t.support_m * own.w * open;
    [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
        Body body = bodies[k];
        Pose pose = pose_of(body, time_s);
        vec4 density = boundary_density_of(t.up_axis, body, pose, x, t.support_m, t.walls.fraction_scale);
        if (!(density.w > 0.0)) continue;
        vec3 correction_m = along / max(1.0 - density.w, 1e-6) * density.xyz;
        add_impulse(t, k, correction_m, x - torque_centre(body, pose));
    }
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    BodyTerms t = terms[0];
    float time_s = substep_end_s(clock[0], t.dt_s);
    if (is_corrected != 0u && boundary_density[i].w > 0.0 && constraint[i].w != 0.0)
        add_corrections(t, time_s, constraint[i], boundary_density[i].w);
    vec4 pushed = is_first != 0u ? vec4(0.0) : HAS_PUSH != 0u ? push[i] : vec4(0.0);
    vec3 start = predicted[i];
    if (undone > 0.0 && pushed.w > 0.0) {
        uint k = uint(pushed.w) - 1u;
        vec3 back = -undone * pushed.xyz;
        add_impulse(t, k, back, start - torque_centre(bodies[k], pose_of(bodies[k], time_s)));
        start += back;
        pushed.xyz += back;
    }
    // The prediction keeps the distance of water, as pbd/predict.comp; the solve, the rest.
    if (IS_EXPANDED != 0u && is_first == 0u) {
        t.clearance_m = grown_clearance_m(t.clearance_m, t.snow_spacing, contact[i].x);
        t.walls.clearance_m = grown_clearance_m(t.walls.clearance_m, t.snow_spacing, contact[i].x);
    }
    // Friction may have moved the particle along a body and out of the domain.
    vec3 x = confine(t.walls, start);
    bool was_moved = x != predicted[i];
    [[dont_unroll]] for (uint sweep = 0u; sweep < 3u; ++sweep) {
        bool is_moving = false;
        [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
            Body body = bodies[k];
            Pose pose = pose_of(body, time_s);
            vec3 before = x;
            if (!leave_body(distance_share * t.clearance_m, t.up_axis, body, pose, x)) continue;
            is_moving = true;
            pushed = vec4(pushed.xyz + (x - before), float(k + 1u));
            add_impulse(t, k, x - before, x - torque_centre(body, pose));
        }
        if (!is_moving) break;
        was_moved = true;
        x = confine(t.walls, x);
    }
    if (HAS_PUSH != 0u) push[i] = pushed;
    if (!was_moved) return;
    predicted[i] = x;
    if (row_flag != INVALID_INDEX && is_beyond_skin(x, listed[i], inverse_h, max_moved_q2)) {
        atomicMax(rows[MOVED_IN_STEP], 1u);
        atomicMax(rows[row_flag], 1u);
    }
}
