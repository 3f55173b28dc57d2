#version 460
// Integrates the motion of a grain under the sum of its contact forces: v ← v + Δt F/m, ω ← ω + Δt T/I, x ←
// x + Δt v with a residual below the ulp of x, and moves it out of bodies and walls that it has penetrated
// too deep (Gucer2010 eq 3.16). Turbulent drag is implicit, v ← v/(1 + Δt k |v|): it never reverses a
// velocity.
//
// Contact lists become stale if a grain has moved by half their skin, or a body is near it that is not in its
// list: bodies move, and the distance to a terrain changes faster than the position.
//
// A grain that is not finite, or moves by more than MAX_TRAVEL, is a fault.
//
// Bytes: 100 a grain read, 56 written. Order-independent.
// Elements: body_data = 0, clock = 0, fault = 0, sums = 0, first_row = 0, near = 0, lists = 0.
// Elements: emitters = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_BODIES = 1;
// 1 if loads on some bodies are measured.
layout(constant_id = 2) const uint HAS_NAMED_BODIES = 1;
layout(constant_id = 3) const uint BODY_KINDS = 0xe00df;
// 1 to hold the grains in the pipes of emitters, which move by the flow.
layout(constant_id = 4) const uint HAS_EMITTERS = 0;
const uint DIMENSIONS = 3u;
#include "dem/terms.glsl"
#include "common/clock.glsl"
#include "dem/fault.glsl"
#include "dem/grain.glsl"
#include "dem/lists.glsl"
#include "sources/sources.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 2) buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 3) buffer Motion { GrainMotion motion[]; };
layout(scalar, binding = 4) readonly buffer Load { ContactLoad load[]; };
layout(scalar, binding = 5) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 6) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 7) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 8) readonly buffer Near { uint near[]; };
// Positions for which the contact lists were built.
layout(scalar, binding = 9) readonly buffer ListedAt { vec3 listed_at[]; };
layout(scalar, binding = 10) buffer Lists { DemLists lists[]; };
layout(scalar, binding = 11) buffer Fault { DemFault fault[]; };
layout(scalar, binding = 12) buffer Sums { uint sums[]; };
layout(scalar, binding = 13) buffer Clock { StepClock clock[]; };
layout(scalar, binding = 14) readonly buffer Emitters { Emitter emitters[]; };

#include "common/surfaces.glsl"
#include "common/fixed.glsl"
#include "dem/partners.glsl"

// Distance from a pipe within which grains are held, over its length: more than they are displaced in it.
const float PIPE_MARGIN = 0.6;

// Maximum penetration of a grain into a surface, as a share of its radius.
const float DEEPEST = 0.9;

// Moves a grain out of a surface that it has penetrated too deep, and removes its velocity into the surface
// (Gucer2010 eq 3.16); returns the removed velocity.
vec3 push_out(vec4 surface, vec3 surface_velocity, float r, inout vec3 x, inout vec3 v) {
    float most = (1.0 - DEEPEST) * r;
    if (surface.w >= most) return vec3(0.0);
    x += (most - surface.w) * surface.xyz;
    vec3 taken = min(dot(v - surface_velocity, surface.xyz), 0.0) * surface.xyz;
    v -= taken;
    return taken;
}

// Returns true if a body is in the contact list of a grain.
bool is_listed(uint i, uint body) {
    uint begin = first_row[i];
    [[dont_unroll]] for (uint row = min(first_row[i + 1u], near.length()); row > begin; --row) {
        uint partner = near[row - 1u] & ~KEPT;
        if (partner == FIRST_BODY + body) return true;
        // Surfaces come last, in ascending order.
        if (partner < FIRST_BODY + body) break;
    }
    return false;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    // If a step has failed, its state is kept unchanged.
    if (is_frozen(clock[0])) return;
    float time_s = substep_start_s(clock[0], terms[0].dt_s);
    float skin_m = lists[0].used_skin_m;
    vec4 own_sphere = sphere[i];
    vec3 x = own_sphere.xyz;
    float r = own_sphere.w;
    vec3 v = motion[i].velocity_m_s;
    vec3 w = motion[i].spin_1_s;
    float m = mass_of(terms[0], r);
    v += terms[0].dt_s * (load[i].force_n / m + terms[0].gravity_m_s2);
    float drag_1_m = terms[0].turbulent_drag_1_m;
    if (drag_1_m > 0.0) v /= 1.0 + terms[0].dt_s * drag_1_m * sqrt(dot(v, v));
    w += (terms[0].dt_s / (BALL_INERTIA * m * r * r)) * load[i].torque_n_m;
    if (HAS_EMITTERS != 0u) {
        [[dont_unroll]] for (uint e = 0u; e < emitters.length(); ++e) {
            if (!is_in_pipe(emitters[e], x, PIPE_MARGIN * emitters[e].reach_m)) continue;
            v = emitters[e].speed_m_s * emitters[e].flow;
            w = vec3(0.0);
        }
    }
    // Before walls and bodies stop it. A speed whose square is infinite is too high, too.
    float travel = terms[0].dt_s * max(sqrt(dot(v, v)) / r, sqrt(dot(w, w)));
    precise vec3 before_m = x;
    precise vec3 step_m = terms[0].dt_s * v + motion[i].residual_m;
    precise vec3 after_m = before_m + step_m;
    precise vec3 done_m = after_m - before_m;
    precise vec3 residual_m = (before_m - (after_m - done_m)) + (step_m - done_m);
    x = after_m;
    vec3 integrated = x;
    vec3 integrated_v = v;
    bool is_stale = false;
    if (HAS_BODIES != 0u) {
        float near_m = r + surface_gap(terms[0]) + SURFACE_MARGIN * skin_m;
        [[dont_unroll]] for (uint k = 0u; k < terms[0].n_bodies; ++k) {
            Body body = bodies[k];
            Pose pose = pose_of(body, time_s);
            vec4 surface = surface_of(terms[0].up_axis, body, x, time_s + terms[0].dt_s);
            vec3 taken = push_out(surface, velocity_of(body, pose, x), r, x, v);
            is_stale = is_stale || surface.w <= near_m && !is_listed(i, k);
            if (HAS_NAMED_BODIES != 0u && k >= terms[0].first_named) {
                vec3 force = (m / terms[0].dt_s) * taken;
                uint wrench = terms[0].n_pieces + k - terms[0].first_named;
                add_force(wrench, force, terms[0].quanta_per_n);
                add_torque(wrench, cross(x - torque_centre(body, pose), force), terms[0].quanta_per_n);
            }
        }
    }
    [[dont_unroll]] for (uint k = 0u; k < 6u; ++k) push_out(wall(terms[0], k, x), vec3(0.0), r, x, v);
    // A grain that was moved out may be near bodies that were tested before.
    is_stale = is_stale || HAS_BODIES != 0u && x != integrated;
    vec3 shift = x - listed_at[i];
    float most = MAX_SHIFT * skin_m;
    // Also true for a skin of 0, and for a position that is not finite.
    is_stale = is_stale || !(dot(shift, shift) < most * most);
    if (is_stale) lists[0].is_stale = 1u;
    if (travel > MAX_TRAVEL) {
        // It is reported as it was before walls and bodies stopped it.
        x = integrated;
        v = integrated_v;
    }
    sphere[i] = vec4(x, r);
    motion[i].velocity_m_s = v;
    motion[i].spin_1_s = w;
    motion[i].residual_m = residual_m;
    uvec3 bits = (floatBitsToUint(x + v + w)) & 0x7fffffffu;
    bool is_finite = max(bits.x, max(bits.y, bits.z)) < 0x7f800000u;
    if (is_finite && travel <= MAX_TRAVEL) return;
    RECORD_FAULT_STEP();
    if (is_finite) {
        atomicMin(fault[0].too_fast, motion[i].id);
        atomicMax(fault[0].travel, floatBitsToUint(travel));
    } else {
        atomicMin(fault[0].not_finite, motion[i].id);
    }
}
