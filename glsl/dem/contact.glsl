// Contact law: a linear normal spring and damper (Gucer2010 eq 3.4, 3.7), a tangential one up to Coulomb's
// limit (eq 3.9), a rolling and twisting one, attraction (eq 3.11) and bonds. dem/oscillator.glsl makes the
// normal law exact for the discrete step.
//
// Seen from the other end, normal, velocities and history have the opposite sign; `precise` and commutative
// sums make the forces opposite, too, to the bit.
#ifndef DEM_CONTACT
#define DEM_CONTACT
#include "common/vectors.glsl"
#include "dem/oscillator.glsl"
#include "dem/terms.glsl"

// State of a contact from step to step.
struct ContactHistory {
    // Tangential spring in m, and rolling and twisting spring in rad.
    vec3 shear_m;
    vec3 rolling;
    // Time for which the contact has been slow enough to freeze, in s; 0 for a bond.
    float slow_s;
    // UNBONDED or BONDED.
    uint bond_state;
    // NEW, HELD or ENDED.
    uint phase;
};

const uint UNBONDED = 0u;
const uint BONDED = 1u;

// A contact without a previous step; one with; and one whose rebound has ended, but which still overlaps by
// the rest of a step: it exerts no force until the ends approach again.
const uint NEW = 0u;
const uint HELD = 1u;
const uint ENDED = 2u;
const ContactHistory NEW_CONTACT = ContactHistory(vec3(0.0), vec3(0.0), 0.0, UNBONDED, NEW);

// Kinematics of a contact as seen from this end.
struct ContactKinematics {
    // Unit normal from the other end to this one, and overlap, negative for a gap.
    vec3 normal;
    float overlap_m;
    // Velocity of this surface relative to the other at the contact, and relative angular velocity.
    vec3 velocity_m_s;
    vec3 spin_1_s;
    // m* and R*, and the rotational inertia m r² of both ends about the contact.
    float mass_kg;
    float radius_m;
    float rolling_inertia_kg_m2;
    float damping_ratio;
    float friction;
    // Attraction at zero gap, and the gap at which it ends.
    float attraction_n;
    float attraction_range_m;
    // Tensile and shear strength of a bond.
    float bond_strength_n;
    float bond_shear_strength_n;
    // True for a bond that yields in shear at its strength, as snow that sinters does, in place of failing.
    bool bond_yields;
};

// Force and torque of a contact on this end.
struct ContactForce {
    vec3 normal_force_n;
    vec3 tangential_force_n;
    // Rolling and twisting torque.
    vec3 rolling_torque_n_m;
    // True if there is history to store.
    bool is_kept;
};

// Damping ratio of the rolling spring (Ai et al. 2011).
const float ROLLING_DAMPING = 0.3;

// Clamps the magnitude of a force.
vec3 cut(vec3 force, float most) {
    float size = sqrt(dot(force, force));
    return size > most ? force * (most / size) : force;
}

ContactForce evaluate_contact(DemTerms t, ContactKinematics c, inout ContactHistory history) {
    ContactForce force = ContactForce(vec3(0.0), vec3(0.0), vec3(0.0), false);
    float reach = c.attraction_range_m > 0.0 ? clamp(1.0 + c.overlap_m / c.attraction_range_m, 0.0, 1.0)
                  : c.overlap_m >= 0.0       ? 1.0
                                             : 0.0;
    force.normal_force_n = -c.attraction_n * reach * c.normal;
    bool is_bonded = history.bond_state == BONDED;
    if (c.overlap_m < 0.0 && !is_bonded) return force;

    precise float separation_m_s = dot(c.velocity_m_s, c.normal);
    precise vec3 sliding = c.velocity_m_s - separation_m_s * c.normal;
    if (history.phase == ENDED && separation_m_s > 0.0 && !is_bonded) {
        history = NEW_CONTACT;
        history.phase = ENDED;
        force.is_kept = true;
        return force;
    }
    Oscillator oscillator = oscillator_of(c.damping_ratio, c.mass_kg, t.normal_stiffness_n_m, t.dt_s);
    float damping = oscillator.damping_n_s_m;
    float load_n = 0.0;
    bool has_ended = false;
    float pressed_n = normal_force(oscillator, c.overlap_m, separation_m_s, history.phase == NEW, is_bonded,
                                   load_n, has_ended);
    history.phase = has_ended ? ENDED : HELD;
    precise vec3 shear = tangential(history.shear_m, c.normal) + t.dt_s * sliding;
    float along_damping = t.tangential_damping_ratio * damping;
    precise vec3 along = -(t.tangential_stiffness_n_m * shear) - along_damping * sliding;

    if (is_bonded) {
        vec3 sprung = t.tangential_stiffness_n_m * shear;
        bool is_torn = -t.normal_stiffness_n_m * c.overlap_m > c.bond_strength_n;
        bool is_sheared = dot(sprung, sprung) > c.bond_shear_strength_n * c.bond_shear_strength_n;
        is_bonded = !is_torn && (c.bond_yields || !is_sheared);
        history.bond_state = is_bonded ? BONDED : UNBONDED;
        history.slow_s = 0.0;
        if (!is_bonded && c.overlap_m < 0.0) return force;
    } else if (t.has_bonds != 0u) {
        bool is_slow = dot(c.velocity_m_s, c.velocity_m_s) <= t.bond_below_m_s * t.bond_below_m_s;
        history.slow_s = is_slow ? history.slow_s + t.dt_s : 0.0;
    }
    if (!is_bonded || c.bond_yields) {
        vec3 whole = along;
        along = cut(whole, is_bonded ? c.bond_shear_strength_n : c.friction * load_n);
        if (along != whole)
            shear = t.tangential_stiffness_n_m > 0.0
                        ? -(along + along_damping * sliding) / t.tangential_stiffness_n_m
                        : vec3(0.0);
    }
    history.shear_m = shear;

    if (t.rolling_friction > 0.0) {
        float arm = t.rolling_friction * c.radius_m;
        float stiffness = 2.25 * t.normal_stiffness_n_m * arm * arm;
        precise vec3 rolling = history.rolling + t.dt_s * c.spin_1_s;
        vec3 whole = -stiffness * rolling;
        vec3 couple = cut(whole, arm * load_n);
        if (couple != whole) rolling = -couple / stiffness;
        else couple -= (2.0 * ROLLING_DAMPING * sqrt(c.rolling_inertia_kg_m2 * stiffness)) * c.spin_1_s;
        history.rolling = rolling;
        force.rolling_torque_n_m = couple;
    }
    if (!is_bonded && t.has_bonds != 0u && history.slow_s >= t.bond_after_s && history.slow_s > 0.0) {
        history.bond_state = BONDED;
        history.slow_s = 0.0;
    }
    force.normal_force_n += pressed_n * c.normal;
    force.tangential_force_n = along;
    force.is_kept = true;
    return force;
}

#endif
