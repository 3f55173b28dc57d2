#version 460
// Solves the joints and contacts of dynamic bodies by impulses, one after the other (projected Gauss–Seidel):
// of a row of a joint as much as its motor or nothing limits; of a contact along the normal the least that
// keeps the velocity apart, across it up to Coulomb's limit. One thread of one workgroup, with the bodies in
// shared memory.
//
// Overlaps, of which contacts are free but for rounding and bodies that are moved, are taken back by moving
// bodies apart, a share in each step and as much by many contacts as by one, without a velocity.
//
// Numbers the groups of bodies that welds hold together, for the contacts of the next step.
//
// Bytes: 84 a contact and 72 a row, in each iteration. One thread solves: order-independent.
// Elements: clock = all, found = all, contacts = all, shapes = all, states = all, solved = all.
// Elements: rows = all, joints = all, joint_states = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bodies/contact.glsl"
#include "bodies/dynamic_body.glsl"
#include "bodies/joint.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 1) readonly buffer Shapes { RigidShape shapes[]; };
layout(scalar, binding = 2) buffer States { RigidState states[]; };
layout(scalar, binding = 3) readonly buffer Found { uint found[]; };
layout(scalar, binding = 4) buffer Contacts { BodyContact contacts[]; };
layout(scalar, binding = 5) buffer Solved { uint solved[]; };
layout(scalar, binding = 6) buffer Rows { JointRow rows[]; };
layout(scalar, binding = 7) readonly buffer Joints { BodyJoint joints[]; };
layout(scalar, binding = 8) readonly buffer JointStates { JointState joint_states[]; };
layout(scalar, push_constant) uniform Params {
    uint n_shapes;
    uint n_rows;
    uint n_joints;
    uint max_iterations;
    // Change of relative velocities at which an iteration is the last.
    float tolerance_m_s;
    // Share of an overlap that the step takes back.
    float taken_back;
};

// Bodies while their contacts are solved: velocity, angular momentum, inverse mass and inertia along the
// scene's axes, and the displacement by which overlaps are taken back.
shared vec3 velocity_m_s[MAX_DYNAMIC_BODIES];
shared vec3 angular_kg_m2_s[MAX_DYNAMIC_BODIES];
shared float inverse_kg[MAX_DYNAMIC_BODIES];
shared vec3 inverse_diagonal[MAX_DYNAMIC_BODIES];
shared vec3 inverse_rest[MAX_DYNAMIC_BODIES];
shared vec3 moved_m[MAX_DYNAMIC_BODIES];
shared uint group_of[MAX_DYNAMIC_BODIES];

void load(uint k) {
    RigidShape shape = shapes[k];
    RigidState state = states[k];
    vec3 x = by_inverse_inertia(shape, state.rotation, vec3(1.0, 0.0, 0.0));
    vec3 y = by_inverse_inertia(shape, state.rotation, vec3(0.0, 1.0, 0.0));
    vec3 z = by_inverse_inertia(shape, state.rotation, vec3(0.0, 0.0, 1.0));
    velocity_m_s[k] = state.velocity_m_s;
    angular_kg_m2_s[k] = state.angular_momentum_kg_m2_s;
    inverse_kg[k] = 1.0 / shape.mass_kg;
    inverse_diagonal[k] = vec3(x.x, y.y, z.z);
    inverse_rest[k] = vec3(y.z, z.x, x.y);
    moved_m[k] = vec3(0.0);
    group_of[k] = k + 1u;
}

void store(uint k) {
    states[k].group = group_of[k];
    states[k].velocity_m_s = velocity_m_s[k];
    states[k].angular_momentum_kg_m2_s = angular_kg_m2_s[k];
    vec3 offset_m = states[k].offset_m;
    vec3 rest_m = states[k].offset_rest_m;
    add_compensated(offset_m, rest_m, moved_m[k]);
    states[k].offset_m = offset_m;
    states[k].offset_rest_m = rest_m;
}

vec3 spin_by(uint k, vec3 angular) {
    return symmetric_product(inverse_diagonal[k], inverse_rest[k], angular);
}

vec3 velocity_at(uint k, vec3 arm_m) {
    return velocity_m_s[k] + cross(spin_by(k, angular_kg_m2_s[k]), arm_m);
}

// Returns the contribution of a body to the velocity along a direction that an impulse along it gives.
float inverse_mass_at(uint k, vec3 arm_m, vec3 direction) {
    vec3 across = cross(arm_m, direction);
    return inverse_kg[k] + dot(across, spin_by(k, across));
}

void push(uint k, vec3 arm_m, vec3 impulse_n_s) {
    velocity_m_s[k] += inverse_kg[k] * impulse_n_s;
    angular_kg_m2_s[k] += cross(arm_m, impulse_n_s);
}

vec3 relative_velocity(uint owner, BodyContact contact) {
    vec3 v = velocity_at(owner, contact.arm_m) - contact.surface_m_s;
    return contact.partner == NO_PARTNER ? v : v - velocity_at(contact.partner, contact.partner_arm_m);
}

float inverse_mass(uint owner, BodyContact contact, vec3 direction) {
    float own = inverse_mass_at(owner, contact.arm_m, direction);
    if (contact.partner == NO_PARTNER) return own;
    return own + inverse_mass_at(contact.partner, contact.partner_arm_m, direction);
}

void apply(uint owner, BodyContact contact, vec3 impulse_n_s) {
    push(owner, contact.arm_m, impulse_n_s);
    if (contact.partner != NO_PARTNER) push(contact.partner, contact.partner_arm_m, -impulse_n_s);
}

// Applies the impulses that a contact had in the step before.
void begin(uint slot, uint owner) {
    BodyContact contact = contacts[slot];
    contacts[slot].inverse_kg = inverse_mass(owner, contact, contact.normal);
    apply(owner, contact, contact.normal_n_s * contact.normal + contact.tangential_n_s);
}

// Solves a contact, and returns the change of the relative velocity there.
float solve(uint slot, uint owner) {
    BodyContact contact = contacts[slot];
    vec3 n = contact.normal;
    float lacking_m_s = contact.least_m_s - dot(n, relative_velocity(owner, contact));
    float normal_n_s = max(contact.normal_n_s + lacking_m_s / contact.inverse_kg, 0.0);
    float change_n_s = normal_n_s - contact.normal_n_s;
    apply(owner, contact, change_n_s * n);
    vec3 v = relative_velocity(owner, contact);
    vec3 sliding_m_s = v - dot(n, v) * n;
    float speed = sqrt(dot(sliding_m_s, sliding_m_s));
    float across_kg = speed > 0.0 ? inverse_mass(owner, contact, sliding_m_s / speed) : contact.inverse_kg;
    vec3 wanted_n_s = contact.tangential_n_s - sliding_m_s / across_kg;
    float size = sqrt(dot(wanted_n_s, wanted_n_s));
    float limit = contact.friction * normal_n_s;
    vec3 tangential_n_s = size > limit ? (limit / size) * wanted_n_s : wanted_n_s;
    vec3 across_n_s = tangential_n_s - contact.tangential_n_s;
    apply(owner, contact, across_n_s);
    contacts[slot].normal_n_s = normal_n_s;
    contacts[slot].tangential_n_s = tangential_n_s;
    return max(contact.inverse_kg * abs(change_n_s), across_kg * sqrt(dot(across_n_s, across_n_s)));
}

void apply_to_row(JointRow row, float impulse) {
    if (row.is_angular == 0u) {
        push(row.owner, row.arm_m, impulse * row.direction);
        if (row.partner != NO_PARTNER) push(row.partner, row.partner_arm_m, -impulse * row.direction);
    } else {
        angular_kg_m2_s[row.owner] += impulse * row.direction;
        if (row.partner != NO_PARTNER) angular_kg_m2_s[row.partner] -= impulse * row.direction;
    }
}

// Returns the relative velocity of a joint along the direction of a row.
float velocity_of(JointRow row) {
    bool is_pair = row.partner != NO_PARTNER;
    vec3 v;
    if (row.is_angular == 0u) {
        v = velocity_at(row.owner, row.arm_m);
        if (is_pair) v -= velocity_at(row.partner, row.partner_arm_m);
    } else {
        v = spin_by(row.owner, angular_kg_m2_s[row.owner]);
        if (is_pair) v -= spin_by(row.partner, angular_kg_m2_s[row.partner]);
    }
    return dot(row.direction, v);
}

// Solves a row of a joint, and returns the change of the relative velocity there.
float solve_row(uint r) {
    JointRow row = rows[r];
    if (row.mass == 0.0) return 0.0;
    float lacking = row.wanted - velocity_of(row) - row.compliance * row.impulse;
    float impulse = clamp(row.impulse + row.mass * lacking, -row.limit, row.limit);
    float change = impulse - row.impulse;
    apply_to_row(row, change);
    rows[r].impulse = impulse;
    return row.change_m_s * abs(change);
}

// Moves the bodies of a contact apart by what contacts before it have not yet of the share of its overlap.
void take_back(uint slot, uint owner) {
    BodyContact contact = contacts[slot];
    if (contact.gap_m >= 0.0) return;
    vec3 apart_m = moved_m[owner];
    float sum_1_kg = inverse_kg[owner];
    bool is_pair = contact.partner != NO_PARTNER;
    if (is_pair) {
        apart_m -= moved_m[contact.partner];
        sum_1_kg += inverse_kg[contact.partner];
    }
    float lacking_m = -taken_back * contact.gap_m - dot(contact.normal, apart_m);
    if (lacking_m <= 0.0) return;
    vec3 way_m = lacking_m / sum_1_kg * contact.normal;
    moved_m[owner] += inverse_kg[owner] * way_m;
    if (is_pair) moved_m[contact.partner] -= inverse_kg[contact.partner] * way_m;
}

// Gives each group the least number of its bodies.
void number_groups() {
    bool has_changed = true;
    // Bound: each turn but the last lowers the number of a body.
    while (has_changed) {
        has_changed = false;
        [[dont_unroll]] for (uint j = 0u; j < n_joints; ++j) {
            if (!is_weld(joints[j]) || joint_states[j].is_broken != 0u) continue;
            uint partner = joints[j].partner;
            uint own = group_of[joints[j].owner];
            uint other = partner == NO_PARTNER ? FIXED_GROUP : group_of[partner];
            if (own == other) continue;
            has_changed = true;
            group_of[joints[j].owner] = min(own, other);
            if (partner != NO_PARTNER) group_of[partner] = min(own, other);
        }
    }
}

void solve_all() {
    uint n_active = 0u;
    [[dont_unroll]] for (uint k = 0u; k < n_shapes; ++k) {
        uint end = shapes[k].first_point + shapes[k].n_points;
        [[dont_unroll]] for (uint p = shapes[k].first_point; p < end; ++p) {
            [[dont_unroll]] for (uint c = 0u; c < found[p]; ++c) {
                solved[2u * n_active] = p * MAX_CONTACTS_OF_POINT + c;
                solved[2u * n_active + 1u] = k;
                ++n_active;
            }
        }
    }
    [[dont_unroll]] for (uint r = 0u; r < n_rows; ++r) apply_to_row(rows[r], rows[r].impulse);
    [[dont_unroll]] for (uint a = 0u; a < n_active; ++a) begin(solved[2u * a], solved[2u * a + 1u]);
    [[dont_unroll]] for (uint iteration = 0u; iteration < max_iterations; ++iteration) {
        float change_m_s = 0.0;
        [[dont_unroll]] for (uint r = 0u; r < n_rows; ++r) change_m_s = max(change_m_s, solve_row(r));
        [[dont_unroll]] for (uint a = 0u; a < n_active; ++a)
            change_m_s = max(change_m_s, solve(solved[2u * a], solved[2u * a + 1u]));
        if (change_m_s <= tolerance_m_s) break;
    }
    [[dont_unroll]] for (uint a = 0u; a < n_active; ++a) take_back(solved[2u * a], solved[2u * a + 1u]);
}

void main() {
    if (group_idx() != 0u || has_fault(clock[0]) || is_frozen(clock[0])) return;
    uint lane = gl_LocalInvocationIndex;
    [[dont_unroll]] for (uint k = lane; k < n_shapes; k += WORKGROUP_SIZE) load(k);
    barrier();
    if (lane == 0u) {
        solve_all();
        number_groups();
    }
    barrier();
    [[dont_unroll]] for (uint k = lane; k < n_shapes; k += WORKGROUP_SIZE) store(k);
}
