#version 460
// Computes contacts of pieces with walls, bodies and one another: each point of a piece's surface is pushed
// out of what it penetrates deepest, by the contact law of grains, and pushes back. Linked pieces do not push
// each other.
//
// The candidates of a point are on the list of its own piece (find_near_pieces.comp). Forces are summed in
// integers, so their order does not matter. Bytes: 4 (1 + 3 + 2 × 4) a point, and pieces. Order-independent.
// Elements: clock = 0, piece_cell_start = 0, bodies = 0, body_data = 0, sums = 0, near_pieces = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_BODIES = 1;
layout(constant_id = 2) const uint BODY_KINDS = 0xe00df;
layout(constant_id = 3) const uint MAX_NEAR = 32;
const uint DIMENSIONS = 3u;
#include "dem/contact.glsl"
#include "common/clock.glsl"
#include "dem/piece.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 1) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 2) readonly buffer Points { PiecePoint points[]; };
layout(scalar, binding = 3) readonly buffer Motions { PieceMotion motions[]; };
layout(scalar, binding = 4) readonly buffer Shapes { PieceShape shapes[]; };
layout(scalar, binding = 5) readonly buffer Faces { PieceFace faces[]; };
layout(scalar, binding = 6) readonly buffer PieceOrder { uint piece_order[]; };
layout(scalar, binding = 7) readonly buffer PieceCellStart { uint piece_cell_start[]; };
layout(scalar, binding = 8) readonly buffer LinkedPieces { uvec2 linked_pieces[]; };
layout(scalar, binding = 9) readonly buffer LinkIsWhole { uint link_is_whole[]; };
layout(scalar, binding = 10) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 11) readonly buffer BodyData { float body_data[]; };
// Partner of each point, and tangential spring of the contact.
layout(scalar, binding = 12) buffer PointPartner { uint point_partner[]; };
layout(scalar, binding = 13) buffer PointShear { vec3 point_shear_m[]; };
layout(scalar, binding = 14) buffer Sums { uint sums[]; };
// Near pieces of each piece, from find_near_pieces: their number and, unless it is above MAX_NEAR, their
// indices.
layout(scalar, binding = 15) readonly buffer NearPieces { uint near_pieces[]; };
layout(scalar, push_constant) uniform Params {
    uint n_points;
};

#include "common/surfaces.glsl"
#include "dem/contact_law.glsl"
#include "dem/linked.glsl"
#include "dem/planes.glsl"
#include "common/fixed.glsl"
#include "dem/partners.glsl"

void main() {
    uint i = thread_idx();
    if (i >= n_points || is_frozen(clock[0])) return;
    float time_s = substep_start_s(clock[0], terms[0].dt_s);
    uint piece = points[i].piece;
    PieceMotion motion = motions[piece];
    PieceShape shape = shapes[piece];
    vec3 x = motion.centre_m + rotate(motion.rotation, points[i].place_m);

    // Surface that the point penetrates deepest.
    vec4 deepest = vec4(0.0);
    uint partner = INVALID_INDEX;
    [[dont_unroll]] for (uint k = 0u; k < 6u; ++k) {
        vec4 surface = wall(terms[0], k, x);
        if (surface.w < deepest.w) {
            deepest = surface;
            partner = FIRST_WALL + k;
        }
    }
    if (HAS_BODIES != 0u)
        [[dont_unroll]] for (uint k = 0u; k < terms[0].n_bodies; ++k) {
            vec4 surface = surface_of(terms[0].up_axis, bodies[k], x, time_s);
            if (surface.w < deepest.w) {
                deepest = surface;
                partner = FIRST_BODY + k;
            }
        }
    // Candidates: the list of the piece or, if it overflowed, the pieces in the cells around.
    uint near_list = (MAX_NEAR + 1u) * piece;
    uint n_near = near_pieces[near_list];
    bool is_listed = n_near <= MAX_NEAR;
    uint n_rows = is_listed ? 1u : 9u;
    uvec3 cell = wrapped_cell(terms[0].piece_grid, x);
    [[dont_unroll]] for (uint row = 0u; row < n_rows; ++row) {
        uint j = near_list + 1u;
        uint end = j + n_near;
        if (!is_listed) {
            uint first = row_about(terms[0].piece_grid, cell, row);
            j = piece_cell_start[first];
            end = piece_cell_start[first + 3u];
        }
        [[dont_unroll]] for (; j < end; ++j) {
            uint other = is_listed ? near_pieces[j] : piece_order[j];
            vec3 apart = x - motions[other].centre_m;
            float reach = shapes[other].reach_m;
            if (other == piece || dot(apart, apart) > reach * reach) continue;
            vec4 q = motions[other].rotation;
            vec4 surface = farthest_plane(shapes[other], rotate_inverse(q, apart));
            // At equal depth the lower number wins, regardless of order.
            bool is_deeper = surface.w < deepest.w || surface.w == deepest.w && partner != INVALID_INDEX &&
                                                          FIRST_PIECE + other < partner;
            if (is_deeper && !are_linked(shape, other)) {
                deepest = vec4(rotate(q, surface.xyz), surface.w);
                partner = FIRST_PIECE + other;
            }
        }
    }

    bool is_new = point_partner[i] != partner;
    point_partner[i] = partner;
    if (partner == INVALID_INDEX) {
        point_shear_m[i] = vec3(0.0);
        return;
    }
    vec3 normal = deepest.xyz;
    vec3 place = x - 0.5 * deepest.w * normal;
    vec3 arm = place - motion.centre_m;
    float inverse_mass = inverse_mass_at(shape, motion.rotation, arm, normal);
    vec3 their_velocity = vec3(0.0);
    vec3 centre = vec3(0.0);
    ContactKinematics c;
    c.friction = shape.friction;
    c.damping_ratio = shape.damping_ratio;
    if (partner >= FIRST_PIECE) {
        uint other = partner - FIRST_PIECE;
        vec3 their_arm = place - motions[other].centre_m;
        inverse_mass += inverse_mass_at(shapes[other], motions[other].rotation, their_arm, normal);
        their_velocity = velocity_at(motions[other], their_arm);
        c.friction = min(c.friction, shapes[other].friction);
        c.damping_ratio = max(c.damping_ratio, shapes[other].damping_ratio);
    } else if (partner >= FIRST_BODY) {
        Body body = bodies[partner - FIRST_BODY];
        Pose pose = pose_of(body, time_s);
        their_velocity = velocity_of(body, pose, x);
        centre = torque_centre(body, pose);
    }
    c.normal = normal;
    c.overlap_m = -deepest.w;
    c.velocity_m_s = velocity_at(motion, arm) - their_velocity;
    // Points have no rolling resistance, attraction or bonds.
    c.spin_1_s = vec3(0.0);
    c.mass_kg = 1.0 / inverse_mass;
    c.radius_m = 0.0;
    c.rolling_inertia_kg_m2 = 0.0;
    c.attraction_n = 0.0;
    c.attraction_range_m = 0.0;
    c.bond_strength_n = 0.0;
    c.bond_shear_strength_n = 0.0;
    c.bond_yields = false;
    ContactHistory history = NEW_CONTACT;
    if (!is_new) {
        history.shear_m = point_shear_m[i];
        history.phase = HELD;
    }
    ContactForce contact = evaluate_contact(terms[0].has_bonds != 0u, c, history);
    point_shear_m[i] = history.shear_m;
    vec3 force = contact.normal_force_n + contact.tangential_force_n;
    add_force(piece, force, terms[0].quanta_per_n);
    add_torque(piece, cross(arm, force), terms[0].quanta_per_n);
    if (partner >= FIRST_PIECE) {
        uint other = partner - FIRST_PIECE;
        add_force(other, -force, terms[0].quanta_per_n);
        add_torque(other, -cross(place - motions[other].centre_m, force), terms[0].quanta_per_n);
    } else if (partner >= FIRST_BODY + terms[0].first_named) {
        uint body = partner - FIRST_BODY;
        uint wrench = terms[0].n_pieces + body - terms[0].first_named;
        add_force(wrench, -force, terms[0].quanta_per_n);
        add_torque(wrench, -cross(place - centre, force), terms[0].quanta_per_n);
    }
}
