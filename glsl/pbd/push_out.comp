#version 460
// Moves predicted positions at least the clearance away from every body, and back into the domain: no particle ends a step in a solid. Adds up the
// impulse on each body: of these pushes, and of the correction that the density constraint made along what the body cuts off,
//   Δx_i = ω h λ_i h∇(share),  J = −m Δx / Δt.
// Where bodies leave no room the later one wins, and the domain over all.
//
// `push` is kept for the friction of snow: how far bodies have pushed a particle in this step, and in w the number of the last that did, plus one.
// Bytes: 24 a particle, 32 more near a body. Sums of integers: order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_MESHES = 0;
// Whether pushes are kept.
layout(constant_id = 2) const uint HAS_PUSH = 0;
const uint DIMENSIONS = 3u;
#include "pbd/body_terms.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { BodyTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Steps { uint steps[]; };
layout(scalar, binding = 3) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 4) readonly buffer Heights { float heights[]; };
layout(scalar, binding = 5) readonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 6) readonly buffer CutOff { vec4 cut_off[]; };
layout(scalar, binding = 7) buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 8) buffer Push { vec4 push[]; };
layout(scalar, binding = 9) buffer Sums { uint sums[]; };
layout(scalar, push_constant) uniform Params {
    // 1 for the first pushes of a step.
    uint is_first;
    // 1 behind a correction by the density constraint, which has taken cut_off into account.
    uint is_corrected;
};
#include "common/surfaces.glsl"
#include "common/fixed.glsl"
#include "pbd/cut_off.glsl"

// Pushes a position out of a body until it is at least the clearance away, by several surfaces of it where they meet. True: it was moved.
bool leave_body(Walls walls, uint up_axis, Body body, float time_s, inout vec3 x_m) {
    bool was_near = false;
    [[dont_unroll]] for (uint attempt = 0u; attempt < 4u; ++attempt) {
        vec4 surface = surface_of(up_axis, body, x_m, time_s);
        float push_m = walls.clearance_m - surface.w;
        if (!(push_m > 1e-5 * walls.clearance_m)) break;
        x_m += push_m * surface.xyz;
        was_near = true;
    }
    return was_near;
}

// Momentum that a particle at x took from body k.
void count_impulse(BodyTerms t, uint k, vec3 moved_m, vec3 arm_m) {
    vec3 given = -(t.particle_mass_kg / t.dt_s) * moved_m;
    add_force(k, given, t.quanta_per_n_s);
    add_torque(k, cross(arm_m, given), t.quanta_per_n_s);
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    BodyTerms t = terms[0];
    float time_s = step_time_s(steps[0], 1u, t.dt_s);
    if (is_corrected != 0u && cut_off[i].w > 0.0 && constraint[i].w != 0.0) {
        // The share of the domain's walls that cuts into that of bodies.
        vec3 x = constraint[i].xyz;
        float open = domain_term(t.walls, x, t.support_m).open * (1.0 - cut_off[i].w);
        float along = t.over_relaxation * t.support_m * constraint[i].w * open;
        [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
            vec4 cut = cut_off_by(t.up_axis, bodies[k], x, time_s, t.support_m, t.walls.fraction_scale);
            if (cut.w > 0.0) count_impulse(t, k, along / max(1.0 - cut.w, 1e-6) * cut.xyz, x - centre_of(bodies[k], time_s));
        }
    }
    vec3 x = predicted[i];
    vec4 pushed = is_first != 0u ? vec4(0.0) : HAS_PUSH != 0u ? push[i] : vec4(0.0);
    bool was_moved = false;
    [[dont_unroll]] for (uint sweep = 0u; sweep < 3u; ++sweep) {
        bool is_moving = false;
        [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
            vec3 before = x;
            if (!leave_body(t.walls, t.up_axis, bodies[k], time_s, x)) continue;
            is_moving = true;
            pushed = vec4(pushed.xyz + (x - before), float(k + 1u));
            count_impulse(t, k, x - before, x - centre_of(bodies[k], time_s));
        }
        if (!is_moving) break;
        was_moved = true;
        x = confine(t.walls, x);
    }
    if (HAS_PUSH != 0u) push[i] = pushed;
    if (was_moved) predicted[i] = x;
}
