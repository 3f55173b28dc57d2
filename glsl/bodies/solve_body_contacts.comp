#version 460
// Solves the contacts of dynamic bodies by impulses, one contact after the other (projected Gauss–Seidel):
// along the normal the least that keeps the velocity apart, across it up to Coulomb's limit. One thread.
//
// Overlaps, of which contacts are free but for rounding and bodies that are moved, are taken back by moving
// bodies apart, a tenth in each step, without a velocity.
//
// Bytes: 84 a contact and iteration. One thread: order-independent.
// Elements: clock = all, found = all, contacts = all, shapes = all, states = all, solved = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bodies/contact.glsl"
#include "common/clock.glsl"
#include "common/rigid.glsl"

layout(scalar, binding = 0) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 1) readonly buffer Shapes { RigidShape shapes[]; };
layout(scalar, binding = 2) buffer States { RigidState states[]; };
layout(scalar, binding = 3) readonly buffer Found { uint found[]; };
layout(scalar, binding = 4) buffer Contacts { BodyContact contacts[]; };
layout(scalar, binding = 5) buffer Solved { uint solved[]; };
layout(scalar, push_constant) uniform Params {
    uint n_shapes;
    uint n_iterations;
};

// Share of an overlap that a step takes back.
const float TAKEN_BACK = 0.1;

vec3 velocity_at(uint k, vec3 arm_m) {
    RigidState state = states[k];
    vec3 spin = by_inverse_inertia(shapes[k], state.rotation, state.angular_momentum_kg_m2_s);
    return state.velocity_m_s + cross(spin, arm_m);
}

// Returns the contribution of a body to the velocity along a direction that an impulse along it gives.
float inverse_mass_at(uint k, vec3 arm_m, vec3 direction) {
    vec3 across = cross(arm_m, direction);
    return 1.0 / shapes[k].mass_kg + dot(across, by_inverse_inertia(shapes[k], states[k].rotation, across));
}

void push(uint k, vec3 arm_m, vec3 impulse_n_s) {
    states[k].velocity_m_s += impulse_n_s / shapes[k].mass_kg;
    states[k].angular_momentum_kg_m2_s += cross(arm_m, impulse_n_s);
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

void solve(uint slot, uint owner) {
    BodyContact contact = contacts[slot];
    vec3 n = contact.normal;
    float lacking_m_s = contact.least_m_s - dot(n, relative_velocity(owner, contact));
    float normal_n_s = max(contact.normal_n_s + lacking_m_s / inverse_mass(owner, contact, n), 0.0);
    apply(owner, contact, (normal_n_s - contact.normal_n_s) * n);
    contact.normal_n_s = normal_n_s;
    vec3 v = relative_velocity(owner, contact);
    vec3 sliding_m_s = v - dot(n, v) * n;
    float speed = sqrt(dot(sliding_m_s, sliding_m_s));
    vec3 wanted_n_s = contact.tangential_n_s;
    if (speed > 0.0)
        wanted_n_s -= sliding_m_s / inverse_mass(owner, contact, sliding_m_s / speed);
    float size = sqrt(dot(wanted_n_s, wanted_n_s));
    float limit = contact.friction * normal_n_s;
    vec3 tangential_n_s = size > limit ? (limit / size) * wanted_n_s : wanted_n_s;
    apply(owner, contact, tangential_n_s - contact.tangential_n_s);
    contact.tangential_n_s = tangential_n_s;
    contacts[slot] = contact;
}

void main() {
    if (thread_idx() != 0u || has_fault(clock[0]) || is_frozen(clock[0])) return;
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
    [[dont_unroll]] for (uint a = 0u; a < n_active; ++a) {
        BodyContact contact = contacts[solved[2u * a]];
        vec3 before_n_s = contact.normal_n_s * contact.normal + contact.tangential_n_s;
        apply(solved[2u * a + 1u], contact, before_n_s);
    }
    [[dont_unroll]] for (uint iteration = 0u; iteration < n_iterations; ++iteration) {
        [[dont_unroll]] for (uint a = 0u; a < n_active; ++a) solve(solved[2u * a], solved[2u * a + 1u]);
    }
    [[dont_unroll]] for (uint a = 0u; a < n_active; ++a) {
        BodyContact contact = contacts[solved[2u * a]];
        uint owner = solved[2u * a + 1u];
        if (contact.gap_m >= 0.0) continue;
        vec3 way_m = -TAKEN_BACK * contact.gap_m * contact.normal;
        float share = 1.0;
        if (contact.partner != NO_PARTNER) {
            float other_kg = shapes[contact.partner].mass_kg;
            share = other_kg / (shapes[owner].mass_kg + other_kg);
            states[contact.partner].offset_m -= (1.0 - share) * way_m;
        }
        states[owner].offset_m += share * way_m;
    }
}
