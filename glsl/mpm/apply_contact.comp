#version 460
// Applies the forces of the surfaces that a particle touches to its velocity, which the next step transfers
// to the nodes. With AFLIP the next step adds them to the nodes as it does stress: a particle that kept them
// in its own velocity would hold more of it than its neighbours, which move by that of the grid with it. Its
// surface is that of a ball of its contact radius, so that contact begins where snow is, not where its nodes
// are, and acts at the surface, whatever its angle to the grid.
//
// The normal force is a spring, (λ₀ + 2μ₀) A/h times the depth, with critical damping: the stiffness of a
// cell of snow behind the share A = V⁰^((D−1)/D) of the surface. Friction is a spring of the same stiffness
// and damping along the slip since contact began, bounded by Coulomb's law (Cundall1979). It acts at the
// surface: its moment changes the antisymmetric part of C, whose inertia is m D. Sticky surfaces act on
// nodes. In the first step the radius becomes the distance from a surface that it reaches, so that snow that
// starts in contact is not under stress.
//
// Bytes: 4 (2 + 6 + 6 + 3 + 2 D² + 8) a particle, 36 more with AFLIP. Order-independent: the sums of impulses
// are of integers.
// Elements: body_data = 0, clock = 0, sums = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
layout(constant_id = 2) const uint STENCIL = 4;
layout(constant_id = 3) const uint HAS_BODIES = 1;
layout(constant_id = 4) const uint BODY_KINDS = 0xe00df;
// 1 if loads on some bodies are measured.
layout(constant_id = 5) const uint HAS_NAMED_BODIES = 0;
// 1 if particles move by the velocity of the grid.
layout(constant_id = 6) const uint MOVES_WITH_GRID = 0;
const uint AS_PRINTED = 0u;
#include "mpm/splines.glsl"
#include "mpm/tensors.glsl"
#include "common/body.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 3) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 4) buffer Residual { vec3 residual[]; };
layout(scalar, binding = 5) readonly buffer Mass { float mass[]; };
layout(scalar, binding = 6) readonly buffer Volume { float volume[]; };
layout(scalar, binding = 7) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 8) buffer Position { vec3 position[]; };
layout(scalar, binding = 9) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 10) buffer Affine { float affine[]; };
// Slip since contact began, and the contact radius, in m.
layout(scalar, binding = 11) buffer Contact { vec4 contact[]; };
layout(scalar, binding = 12) buffer Sums { uint sums[]; };
// The velocity of the grid; out, the force of surfaces in N.
layout(scalar, binding = 13) buffer Carried { vec3 carried[]; };
// t in N/m: the moment of surfaces acts on nodes as w t × (x_i − x_p).
layout(scalar, binding = 14) writeonly buffer SurfaceTurn { vec3 surface_turn[]; };

#include "common/fixed.glsl"
const uint ONLY_STICKY = 0u;
#include "mpm/bodies.glsl"

struct Touching {
    vec3 v;
    mat3 c;
    vec3 slip;
    vec3 turn;
    float mass;
    float radius;
    float stiffness;
    float damping;
    bool is_touched;
};

// Applies the force of a surface, with normal and distance, to a particle; returns the impulse.
vec3 resist(MpmTerms t, vec4 surface, vec3 moving, float friction, inout Touching p) {
    if (clock[0].step == 1u && clock[0].substep == 0u) p.radius = min(p.radius, max(surface.w, 0.0));
    float depth = p.radius - surface.w;
    if (!(depth > 0.0)) return vec3(0.0);
    vec3 normal = surface.xyz;
    vec3 arm = -surface.w * normal;
    // Surfaces do not pull.
    float pressing = max(p.stiffness * depth - p.damping * dot(p.v - moving, normal), 0.0);
    vec3 relative = p.v + times(p.c, arm) - moving;
    relative -= dot(relative, normal) * normal;
    vec3 across = dot(p.slip, normal) * normal;
    vec3 along = p.slip - across + t.dt_s * relative;
    vec3 rubbing = -p.stiffness * along - p.damping * relative;
    float size = sqrt(dot(rubbing, rubbing));
    float max_friction = friction * pressing;
    if (size > max_friction) {
        rubbing *= max_friction / size;
        along = -rubbing / p.stiffness;
    }
    p.slip = across + along;
    p.is_touched = true;
    vec3 impulse = t.dt_s * (pressing * normal + rubbing);
    p.v += impulse / p.mass;
    if (MOVES_WITH_GRID != 0u) {
        p.turn += 0.5 * inverse_inertia(t.lattice.cells_per_m) * cross(arm, rubbing);
        return impulse;
    }
    mat3 moment = outer_product(rubbing, arm);
    float gain = 0.5 * t.dt_s * inverse_inertia(t.lattice.cells_per_m) / p.mass;
    mat3 turn = moment - transpose(moment);
    p.c += mat3(gain * turn[0], gain * turn[1], gain * turn[2]);
    return impulse;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (is_frozen(clock[0])) return;
    MpmTerms t = terms[0];
    // The particles are at the end of the step, and so are the bodies.
    float time_s = substep_end_s(clock[0], t.dt_s);
    vec3 x = position[i];
    vec4 own = contact[i];
    vec3 from_walls_m = in_dimensions(min(x - t.domain_min_m, t.domain_max_m - x));
    if (DIMENSIONS == 2u) from_walls_m.z = from_walls_m.x;
    float nearest_m = min(from_walls_m.x, min(from_walls_m.y, from_walls_m.z));
    vec3 total = vec3(0.0);
    vec3 turn = vec3(0.0);
    bool is_near = HAS_BODIES != 0u || nearest_m < own.w || own.xyz != vec3(0.0);
    RARELY(is_near) {
        float share = DIMENSIONS == 3u ? pow(volume[i], 2.0 / 3.0) : sqrt(volume[i]);
        float stiffness = (t.lambda_pa + 2.0 * t.mu_pa) * share * t.lattice.cells_per_m;
        float m = mass[i];
        mat3 c = LOAD_MATRIX(affine, i, 0.0);
        float damping = 2.0 * sqrt(stiffness * m);
        // A depth under a small load is below the ulp of a position far from the origin.
        vec3 below_ulp = residual[i];
        vec3 v = MOVES_WITH_GRID != 0u ? carried[i] : velocity[i];
        Touching p = Touching(v, c, own.xyz, vec3(0.0), m, own.w, stiffness, damping, false);
        if (HAS_BODIES != 0u) for (uint k = 0u; k < t.n_bodies; ++k) {
            Body body = bodies[k];
            if (body.is_sticky != 0u) continue;
            Pose pose = pose_of(body, time_s);
            vec4 surface = surface_of(t.up_axis, body, pose, x);
            surface.w += dot(below_ulp, surface.xyz);
            if (surface.w >= p.radius) continue;
            vec3 moving = velocity_of(body, pose, x);
            vec3 impulse = resist(t, surface, moving, body.friction, p);
            total += impulse;
            vec3 at = x - surface.w * surface.xyz - torque_centre(body, pose);
            if (HAS_NAMED_BODIES != 0u)
                add_impulse_on_body(k, t.first_named, -impulse, at, t.quanta_per_n_s);
        }
        for (uint axis = 0u; axis < DIMENSIONS; ++axis) {
            for (uint side = 0u; side < 2u; ++side) {
                float friction = side == 0u ? t.lower_wall_friction[axis] : t.upper_wall_friction[axis];
                if (friction < 0.0) continue;
                vec3 normal = vec3(0.0);
                normal[axis] = side == 0u ? 1.0 : -1.0;
                float distance = side == 0u ? x[axis] - t.domain_min_m[axis] : t.domain_max_m[axis] - x[axis];
                distance += normal[axis] * below_ulp[axis];
                total += resist(t, vec4(normal, distance), vec3(0.0), friction, p);
            }
        }
        if (p.is_touched) {
            if (MOVES_WITH_GRID == 0u) {
                velocity[i] = p.v;
                STORE_MATRIX(affine, i, p.c);
            }
            turn = p.turn;
        }
        contact[i] = vec4(p.is_touched ? p.slip : vec3(0.0), p.radius);
    }
    if (MOVES_WITH_GRID != 0u) {
        carried[i] = total / t.dt_s;
        surface_turn[i] = turn;
    }
    vec3 next = x;
    PUSH_OUT(t, next, time_s);
    if (DIMENSIONS == 2u) next.z = x.z;
    RARELY(next != x) {
        position[i] = next;
        residual[i] = residual_after(residual[i], x, next);
    }
}
