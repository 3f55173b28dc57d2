#version 460
// Forces and motion of a grain (003 eq 3.3, 3.12): the contacts with grains, bodies, the walls of the domain and pieces of slabs that are
// near, gathered in the order of their list, so that grains need no atomics; then v ← v + Δt F/m, ω ← ω + Δt T/I, x ← x + Δt v.
//
// What a contact remembers is kept at both its ends, under the other's id, which sorting does not change, in a row for each that is near:
// grains read rows where the step before left them (order), and write them where they are now. A row whose contact ended has no partner.
// What grains do to pieces and obstacles adds up in integers, in any order.
// Bytes: 4 (2 + 11) a grain read, 44 for each that it touches, 36 written, and 4 + 16 (28 with rolling) a row each way. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_ROLLING = 1;
layout(constant_id = 2) const uint HAS_BODIES = 1;
// Whether there are bodies whose impacts are measured.
layout(constant_id = 3) const uint HAS_OBSTACLES = 1;
layout(constant_id = 4) const uint HAS_PIECES = 1;
layout(constant_id = 5) const uint HAS_MESHES = 0;
const uint DIMENSIONS = 3u;
#include "dem/contact.glsl"
#include "dem/fault.glsl"
#include "dem/piece.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Order { uint order[]; };
// As find_contacts left it.
layout(scalar, binding = 3) readonly buffer Near { uint near[]; };
layout(scalar, binding = 4) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 5) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 6) readonly buffer Spin { vec3 spin[]; };
layout(scalar, binding = 7) readonly buffer Radius { float radius[]; };
layout(scalar, binding = 8) readonly buffer Id { uint id[]; };
layout(scalar, binding = 9) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 10) readonly buffer Heights { float heights[]; };
// A grain's rows end where the next one's begin.
layout(scalar, binding = 11) readonly buffer OldFirstRow { uint old_first_row[]; };
layout(scalar, binding = 12) readonly buffer OldPartner { uint old_partner[]; };
layout(scalar, binding = 13) readonly buffer OldShear { vec4 old_shear[]; };
layout(scalar, binding = 14) readonly buffer OldRolling { vec3 old_rolling[]; };
layout(scalar, binding = 15) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 16) writeonly buffer NewPartner { uint new_partner[]; };
layout(scalar, binding = 17) writeonly buffer NewShear { vec4 new_shear[]; };
layout(scalar, binding = 18) writeonly buffer NewRolling { vec3 new_rolling[]; };
layout(scalar, binding = 19) writeonly buffer NewPosition { vec3 new_position[]; };
layout(scalar, binding = 20) writeonly buffer NewVelocity { vec3 new_velocity[]; };
layout(scalar, binding = 21) writeonly buffer NewSpin { vec3 new_spin[]; };
layout(scalar, binding = 22) buffer Fault { DemFault fault[]; };
layout(scalar, binding = 23) readonly buffer Motions { PieceMotion motions[]; };
layout(scalar, binding = 24) readonly buffer Shapes { PieceShape shapes[]; };
layout(scalar, binding = 25) readonly buffer Faces { PieceFace faces[]; };
layout(scalar, binding = 26) readonly buffer Corners { vec3 corners[]; };
layout(scalar, binding = 27) buffer Sums { uint sums[]; };
layout(scalar, push_constant) uniform Params {
    uint step;
    float time_s;
};

#include "common/surfaces.glsl"
#include "dem/polyhedron.glsl"
#include "common/fixed.glsl"
#include "dem/partners.glsl"

// No surface lets a grain sink deeper into it than this share of its radius.
const float DEEPEST = 0.9;

// The grain, and what its contacts add up to.
uint old_row;
uint old_end;
uint row;
vec3 force_n;
vec3 torque_n_m;

Memory memory_in(uint from) {
    vec4 shear = old_shear[from];
    return Memory(shear.xyz, HAS_ROLLING != 0u ? old_rolling[from] : vec3(0.0), shear.w);
}

Memory recall(uint partner) {
    [[dont_unroll]] for (uint from = old_row; from < old_end; ++from)
        if (old_partner[from] == partner) return memory_in(from);
    return Memory(vec3(0.0), vec3(0.0), 0.0);
}

void keep(uint partner, Memory memory) {
    uint to = row++;
    if (to >= new_partner.length()) return;
    new_partner[to] = partner;
    new_shear[to] = vec4(memory.shear_m, memory.slow_s);
    if (HAS_ROLLING != 0u) new_rolling[to] = memory.rolling;
}

void take(uint partner, Response response, Memory memory, vec3 normal, float lever_m) {
    force_n += response.across_n + response.along_n;
    torque_n_m += response.couple_n_m - lever_m * cross(normal, response.along_n);
    if (response.is_kept) keep(partner, memory);
}

// How far the middle of a contact with a surface is from the centre of a grain.
float lever_of(float r, vec4 surface) { return r - 0.5 * max(r - surface.w, 0.0); }

// A surface, what moves with it, and what it adds to 1/m*: none if no contact moves it.
Response touch_surface(DemTerms t, uint partner, vec4 surface, vec3 surface_velocity, vec3 surface_spin, float inverse_mass, float friction,
                       float damping_ratio, float attraction_n, float range_m, float r, float m, vec3 v, vec3 w) {
    float overlap = r - surface.w;
    if (overlap < -range_m) return Response(vec3(0.0), vec3(0.0), vec3(0.0), false);
    Memory memory = recall(partner);
    float lever = lever_of(r, surface);
    Touch c;
    c.normal = surface.xyz;
    c.overlap_m = overlap;
    c.velocity_m_s = v - surface_velocity - lever * cross(w, surface.xyz);
    c.spin_1_s = w - surface_spin;
    c.mass_kg = m / (1.0 + m * inverse_mass);
    c.radius_m = r;
    c.rolling_inertia_kg_m2 = (1.0 + BALL_INERTIA) * m * r * r;
    c.damping_ratio = damping_ratio;
    c.friction = friction;
    c.attraction_n = attraction_n;
    c.attraction_range_m = range_m;
    // Nothing freezes to a surface.
    memory.slow_s = 0.0;
    Response response = respond(t, c, memory);
    memory.slow_s = 0.0;
    take(partner, response, memory, c.normal, lever);
    return response;
}

void touch_piece(DemTerms t, uint piece, vec3 x, float r, float m, vec3 v, vec3 w) {
    PieceMotion motion = motions[piece];
    PieceShape shape = shapes[piece];
    vec4 surface = polyhedron_surface(shape, turn_back(motion.rotation, x - motion.centre_m));
    surface.xyz = turn(motion.rotation, surface.xyz);
    vec3 arm = (x - motion.centre_m) - lever_of(r, surface) * surface.xyz;
    float inverse_mass = inverse_mass_at(shape, motion.rotation, arm, surface.xyz);
    Response response = touch_surface(t, FIRST_PIECE + piece, surface, velocity_at(motion, arm), motion.spin_1_s, inverse_mass, shape.friction,
                                      shape.damping_ratio, 0.0, 0.0, r, m, v, w);
    vec3 force = response.across_n + response.along_n;
    add_force(piece, -force, t.quanta_per_n);
    add_torque(piece, -cross(arm, force) - response.couple_n_m, t.quanta_per_n);
}

void touch_grain(DemTerms t, uint i, uint j, vec3 x, float r, float m, vec3 v, vec3 w) {
    vec3 apart = x - position[j];
    float other = radius[j];
    float both = r + other;
    float distance = sqrt(dot(apart, apart));
    uint partner = id[j];
    Memory memory = recall(partner);
    float m_other = mass_of(t, other);
    precise float lever = r - 0.5 * (both - distance);
    precise float lever_other = other - 0.5 * (both - distance);
    vec3 w_other = spin[j];
    Touch c;
    // Two in one place part along x.
    c.normal = distance > 0.0 ? apart / distance : vec3(id[i] < partner ? 1.0 : -1.0, 0.0, 0.0);
    c.overlap_m = both - distance;
    precise vec3 rim = lever * w;
    precise vec3 rim_other = lever_other * w_other;
    precise vec3 turning = rim + rim_other;
    precise vec3 surface = vec3(turning.y * c.normal.z, turning.z * c.normal.x, turning.x * c.normal.y);
    precise vec3 surface_too = vec3(turning.z * c.normal.y, turning.x * c.normal.z, turning.y * c.normal.x);
    precise vec3 parting = v - velocity[j];
    precise vec3 at_contact = parting - (surface - surface_too);
    c.velocity_m_s = at_contact;
    c.spin_1_s = w - w_other;
    precise float product = m * m_other;
    precise float sum = m + m_other;
    c.mass_kg = product / sum;
    precise float radii = r * other;
    c.radius_m = radii / both;
    float inertia = (1.0 + BALL_INERTIA) * m * r * r;
    float inertia_other = (1.0 + BALL_INERTIA) * m_other * other * other;
    precise float inertias = inertia * inertia_other;
    precise float inertia_sum = inertia + inertia_other;
    c.rolling_inertia_kg_m2 = inertias / inertia_sum;
    c.damping_ratio = t.damping_ratio;
    c.friction = t.friction;
    c.attraction_n = t.cohesion_n;
    c.attraction_range_m = t.cohesion_range_m;
    Response response = respond(t, c, memory);
    take(partner, response, memory, c.normal, lever);
}

// Puts a grain back that a surface has let in too deep, and takes its speed into the surface (003 eq 3.16): returns that.
vec3 push_out(vec4 surface, vec3 surface_velocity, float r, inout vec3 x, inout vec3 v) {
    float most = (1.0 - DEEPEST) * r;
    if (surface.w >= most) return vec3(0.0);
    x += (most - surface.w) * surface.xyz;
    vec3 taken = min(dot(v - surface_velocity, surface.xyz), 0.0) * surface.xyz;
    v -= taken;
    return taken;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    DemTerms t = terms[0];
    uint before = order[i];
    old_row = old_first_row[before];
    old_end = old_first_row[before + 1u];
    row = first_row[i];
    uint end = first_row[i + 1u];
    vec3 x = position[i];
    vec3 v = velocity[i];
    vec3 w = spin[i];
    if (fault[0].step < step) {
        // A state that a step has broken is kept as it is.
        [[dont_unroll]] for (uint from = old_row; from < old_end; ++from) keep(old_partner[from], memory_in(from));
        new_position[i] = x;
        new_velocity[i] = v;
        new_spin[i] = w;
        return;
    }
    float r = radius[i];
    float m = mass_of(t, r);
    force_n = vec3(0.0);
    torque_n_m = vec3(0.0);

    // Grains come first.
    uint n_near = end - row;
    uint k = 0u;
    [[dont_unroll]] for (; k < n_near; ++k) {
        uint other = near[k * count[0] + i];
        if (other >= FIRST_WALL) break;
        touch_grain(t, i, other, x, r, m, v, w);
    }
    [[dont_unroll]] for (; k < n_near; ++k) {
        uint partner = near[k * count[0] + i];
        if (HAS_PIECES != 0u && partner >= FIRST_PIECE) {
            touch_piece(t, partner - FIRST_PIECE, x, r, m, v, w);
            continue;
        }
        bool is_wall = partner < FIRST_BODY;
        vec4 surface = wall(t, partner - FIRST_WALL, x);
        vec3 moving = vec3(0.0);
        float surface_friction = t.wall_friction;
        float surface_damping = t.wall_damping_ratio;
        vec2 attraction = vec2(0.0);
        if (HAS_BODIES != 0u && !is_wall) {
            Body body = bodies[partner - FIRST_BODY];
            surface = surface_of(t.up_axis, body, x, time_s);
            moving = velocity_of(body, x - surface.w * surface.xyz, time_s);
            surface_friction = body.friction;
            surface_damping = body.damping_ratio;
            if (body.kind == HEIGHTFIELD) attraction = vec2(t.adhesion_n, t.adhesion_range_m);
        }
        Response response = touch_surface(t, partner, surface, moving, vec3(0.0), 0.0, surface_friction, surface_damping, attraction.x,
                                          attraction.y, r, m, v, w);
        if (HAS_OBSTACLES != 0u && !is_wall && partner - FIRST_BODY >= t.first_obstacle)
            add_force(t.n_pieces + partner - FIRST_BODY - t.first_obstacle, -(response.across_n + response.along_n), t.quanta_per_n);
    }

    v += t.dt_s * (force_n / m + t.gravity_m_s2);
    w += (t.dt_s / (BALL_INERTIA * m * r * r)) * torque_n_m;
    x += t.dt_s * v;
    if (HAS_BODIES != 0u)
        [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
            Body body = bodies[k];
            vec3 taken = push_out(surface_of(t.up_axis, body, x, time_s + t.dt_s), velocity_of(body, x, time_s), r, x, v);
            if (HAS_OBSTACLES != 0u && k >= t.first_obstacle)
                add_force(t.n_pieces + k - t.first_obstacle, (m / t.dt_s) * taken, t.quanta_per_n);
        }
    [[dont_unroll]] for (uint k = 0u; k < 6u; ++k) push_out(wall(t, k, x), vec3(0.0), r, x, v);

    bool has_room = end <= new_partner.length();
    [[dont_unroll]] while (row < end) keep(INVALID_INDEX, Memory(vec3(0.0), vec3(0.0), 0.0));

    new_position[i] = x;
    new_velocity[i] = v;
    new_spin[i] = w;
    uvec3 bits = (floatBitsToUint(x + v + w)) & 0x7fffffffu;
    bool is_finite = max(bits.x, max(bits.y, bits.z)) < 0x7f800000u;
    if (is_finite && has_room) return;
    atomicMin(fault[0].step, step);
    if (!is_finite) atomicMin(fault[0].not_finite, id[i]);
    if (!has_room) atomicMax(fault[0].n_rows, end);
}
