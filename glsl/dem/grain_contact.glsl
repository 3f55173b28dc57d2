// Contacts of a grain: their histories, found by the other's id in the rows of the previous step and written
// to rows of this one, and the sum of their forces.
//
// Needs the buffers `old_contact` and `new_contact` of uint, `old_shear` and `new_shear` of vec4, and the
// constant HAS_ROLLING.
#ifndef DEM_GRAIN_CONTACT
#define DEM_GRAIN_CONTACT
#include "dem/contact.glsl"
#include "dem/contact_rows.glsl"
#include "dem/grain.glsl"

// The grain's rows, and the sum of its contact forces.
uint old_row;
uint old_end;
uint row;
vec3 force_n;
vec3 torque_n_m;

uint partner_in(uint from) { return partner_of(old_contact[CONTACT_WORDS * from]); }

ContactHistory history_in(uint from) {
    vec4 shear = old_shear[from];
    uint bond_state = bond_state_of(old_contact[CONTACT_WORDS * from]);
    // A negative time marks a contact that has ended.
    uint phase = shear.w < 0.0 ? ENDED : HELD;
    ContactHistory history = ContactHistory(shear.xyz, vec3(0.0), max(shear.w, 0.0), bond_state, phase);
    if (HAS_ROLLING != 0u)
        [[unroll]] for (uint axis = 0u; axis < 3u; ++axis)
            history.rolling[axis] = uintBitsToFloat(old_contact[CONTACT_WORDS * from + 1u + axis]);
    return history;
}

ContactHistory recall(uint partner) {
    [[dont_unroll]] for (uint from = old_row; from < old_end; ++from)
        if (partner_in(from) == partner) return history_in(from);
    return NEW_CONTACT;
}

void keep_at(uint to, uint partner, ContactHistory history) {
    if (to >= new_shear.length()) return;
    new_contact[CONTACT_WORDS * to] = partner_word(partner, history.bond_state);
    new_shear[to] = vec4(history.shear_m, history.phase == ENDED ? -1.0 : history.slow_s);
    if (HAS_ROLLING != 0u)
        [[unroll]] for (uint axis = 0u; axis < 3u; ++axis)
            new_contact[CONTACT_WORDS * to + 1u + axis] = floatBitsToUint(history.rolling[axis]);
}

void take(uint partner, ContactForce force, ContactHistory history, vec3 normal, float lever_m) {
    force_n += force.across_n + force.along_n;
    torque_n_m += force.couple_n_m - lever_m * cross(normal, force.along_n);
    if (force.is_kept) keep_at(row++, partner, history);
}

// Distance from the centre of a grain to the middle of its contact with a surface.
float lever_of(float r, vec4 surface) { return r - 0.5 * max(r - surface.w, 0.0); }

// Adds the contact with a surface, given the surface's velocity and its contribution to 1/m*, 0 if contacts
// do not move it.
ContactForce touch_surface(DemTerms t, uint partner, vec4 surface, vec3 surface_velocity, vec3 surface_spin,
                           float inverse_mass, float friction, float damping_ratio, float attraction_n,
                           float range_m, float r, float m, vec3 v, vec3 w) {
    float overlap = r - surface.w;
    if (overlap < -range_m) return ContactForce(vec3(0.0), vec3(0.0), vec3(0.0), false);
    ContactHistory history = recall(partner);
    float lever = lever_of(r, surface);
    ContactKinematics c;
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
    history.slow_s = 0.0;
    history.bond_state = UNBONDED;
    ContactForce force = evaluate_contact(t, c, history);
    history.slow_s = 0.0;
    history.bond_state = UNBONDED;
    take(partner, force, history, c.normal, lever);
    return force;
}

#endif
