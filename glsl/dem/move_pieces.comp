#version 460
// Integrates the motion of a piece under the sum of its forces in this step: v ← v + Δt (F/m + g), L ← L + Δt
// τ, x ← x + Δt v, and a rotation by the angular velocity that L gives at mid-step, so that the tumbling of a
// free piece depends on L alone. The threads after the pieces add the step to the loads on
// named bodies.
//
// Contact lists of grains become stale if a point of a piece may have moved by half their skin.
//
// Resets the sums to 0 for the next step. Bytes: 156 a piece read, 64 + 48 written. Order-independent.
// Elements: clock = 0, fault = 0, sums = all, lists = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "dem/terms.glsl"
#include "common/clock.glsl"
#include "dem/fault.glsl"
#include "dem/lists.glsl"
#include "dem/piece.glsl"
#include "common/body_load.glsl"

layout(scalar, binding = 0) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 1) buffer Fault { DemFault fault[]; };
layout(scalar, binding = 2) readonly buffer Shapes { PieceShape shapes[]; };
layout(scalar, binding = 3) buffer Motions { PieceMotion motions[]; };
layout(scalar, binding = 4) buffer Loads { BodyLoad loads[]; };
layout(scalar, binding = 5) buffer Sums { uint sums[]; };
// Poses for which the contact lists of grains were built.
layout(scalar, binding = 6) readonly buffer ListedPoses { PiecePose listed_poses[]; };
layout(scalar, binding = 7) buffer Lists { DemLists lists[]; };
layout(scalar, binding = 8) buffer Clock { StepClock clock[]; };

#include "common/fixed.glsl"

void main() {
    uint i = thread_idx();
    DemTerms t = terms[0];
    uint n_named = t.n_bodies - t.first_named;
    if (i >= t.n_pieces + n_named) return;
    bool is_still = is_frozen(clock[0]);
    vec3 force = force_sum(i) / t.quanta_per_n;
    vec3 torque = torque_sum(i) / t.quanta_per_n;
    clear_wrench(i);
    // If a step has failed, its state is kept unchanged.
    if (is_still) return;
    if (i >= t.n_pieces) {
        BodyLoad load = loads[i - t.n_pieces];
        add_step(load, force, torque, t.dt_s * force, t.dt_s * torque);
        loads[i - t.n_pieces] = load;
        return;
    }
    PieceShape shape = shapes[i];
    PieceMotion motion = motions[i];
    motion.velocity_m_s += t.dt_s * (force / shape.mass_kg + t.gravity_m_s2);
    motion.angular_momentum_kg_m2_s += t.dt_s * torque;
    motion.centre_m += t.dt_s * motion.velocity_m_s;
    vec3 spin = by_inverse_inertia(shape, motion.rotation, motion.angular_momentum_kg_m2_s);
    vec4 half_way = after_turn(motion.rotation, 0.5 * t.dt_s * spin);
    spin = by_inverse_inertia(shape, half_way, motion.angular_momentum_kg_m2_s);
    motion.rotation = after_turn(motion.rotation, t.dt_s * spin);
    motion.spin_1_s = by_inverse_inertia(shape, motion.rotation, motion.angular_momentum_kg_m2_s);
    motions[i] = motion;
    vec3 shift = motion.centre_m - listed_poses[i].centre_m;
    vec4 turn = motion.rotation - listed_poses[i].rotation;
    // A rotation by θ changes q by 2 sin(θ/4), and moves a point at the distance R by 2 R sin(θ/2) at most.
    float moved_m = sqrt(dot(shift, shift)) + 2.0 * shape.reach_m * sqrt(dot(turn, turn));
    // Also true for a skin of 0, and for a pose that is not finite.
    if (!(moved_m < MAX_SHIFT * lists[0].used_skin_m)) lists[0].is_stale = 1u;
    uvec3 bits =
        floatBitsToUint(motion.centre_m + motion.velocity_m_s + motion.spin_1_s + motion.rotation.xyz) &
        0x7fffffffu;
    if (max(bits.x, max(bits.y, bits.z)) < 0x7f800000u) return;
    RECORD_FAULT_STEP();
    atomicMin(fault[0].piece_not_finite, i);
}
