#version 460
// Computes the forces on a grain of its contacts with pieces of slabs, the last of its contact list, and adds
// them to those of collide.comp; the reactions on pieces are summed in integers, whose order does not matter.
//
// If a step has failed, it does nothing. Bytes: 12 a grain read and, for one that is near a piece, 88 read,
// 28 written, and 20 (32 with rolling) a row each way. Order-independent.
// Elements: near = all, list_shear = all, list_rolling = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_ROLLING = 1;
#include "dem/contact.glsl"
#include "common/clock.glsl"
#include "dem/grain.glsl"
#include "dem/piece.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 2) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 3) buffer Near { uint near[]; };
layout(scalar, binding = 4) buffer ListShear { vec4 list_shear[]; };
layout(scalar, binding = 5) buffer ListRolling { vec3 list_rolling[]; };
layout(scalar, binding = 6) readonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 7) readonly buffer Motion { GrainMotion motion[]; };
layout(scalar, binding = 8) buffer Load { ContactLoad load[]; };
layout(scalar, binding = 9) readonly buffer PieceMotions { PieceMotion piece_motions[]; };
layout(scalar, binding = 10) readonly buffer Shapes { PieceShape shapes[]; };
layout(scalar, binding = 11) readonly buffer Faces { PieceFace faces[]; };
layout(scalar, binding = 12) readonly buffer Corners { vec3 corners[]; };
layout(scalar, binding = 13) buffer Sums { uint sums[]; };
layout(scalar, binding = 14) readonly buffer Clock { StepClock clock[]; };

#include "dem/grain_contact.glsl"
#include "dem/polyhedron.glsl"
#include "common/fixed.glsl"
#include "dem/partners.glsl"

// Adds the contact of grain i in a row. Its state is loaded here, because the loop over contacts has no
// registers to keep it in on a GPU.
void touch_piece(uint i, uint row, uint word) {
    float r = sphere[i].w;
    uint piece = (word & ~KEPT) - FIRST_PIECE;
    PieceMotion its = piece_motions[piece];
    PieceShape shape = shapes[piece];
    vec3 apart = (sphere[i].xyz - its.centre_m) + motion[i].residual_m;
    vec4 surface = polyhedron_surface(shape, rotate_inverse(its.rotation, apart));
    surface.xyz = rotate(its.rotation, surface.xyz);
    vec3 arm = apart - lever_of(r, surface) * surface.xyz;
    float inverse_mass = inverse_mass_at(shape, its.rotation, arm, surface.xyz);
    ContactForce contact = touch_surface(terms[0].has_bonds != 0u, row, word, surface, velocity_at(its, arm),
                                         its.spin_1_s, inverse_mass, shape.friction,
                                         shape.damping_ratio, 0.0, 0.0, NO_LAYER, r, mass_of(terms[0], r),
                                         motion[i].velocity_m_s, motion[i].spin_1_s);
    vec3 force = contact.normal_force_n + contact.tangential_force_n;
    add_force(piece, -force, terms[0].quanta_per_n);
    add_torque(piece, -cross(arm, force) - contact.rolling_torque_n_m, terms[0].quanta_per_n);
}

void main() {
    uint i = thread_idx();
    if (i >= count[0] || is_frozen(clock[0])) return;
    uint end = min(first_row[i + 1u], near.length());
    uint row = load[i].next_row;
    if (row >= end) return;
    force_n = load[i].force_n;
    torque_n_m = load[i].torque_n_m;
    [[dont_unroll]] for (; row < end; ++row)
        touch_piece(i, row, near[row]);
    load[i] = ContactLoad(force_n, row, torque_n_m);
}
