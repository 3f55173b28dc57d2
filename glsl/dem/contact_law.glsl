// Contact law: a linear normal spring and damper (Gucer2010 eq 3.4, 3.7), a tangential one up to Coulomb's
// limit (eq 3.9), a rolling and twisting one, attraction (eq 3.11) and bonds. dem/oscillator.glsl makes the
// normal law exact for the discrete step.
//
// Seen from the other end, normal, velocities and history have the opposite sign; `precise` and commutative
// sums make the forces opposite, too, to the bit.
//
// Needs the buffer `terms` of DemTerms. A GPU has few registers for it: terms are loaded where they are used,
// and branches nest without early returns, since a value from before one that is used after it stays in a
// register through the whole loop over contacts.
#ifndef DEM_CONTACT_LAW
#define DEM_CONTACT_LAW
#include "common/vectors.glsl"
#include "dem/contact.glsl"
#include "dem/oscillator.glsl"

// Damping ratio of the rolling spring (Ai et al. 2011).
const float ROLLING_DAMPING = 0.3;

// Clamps the magnitude of a force.
vec3 cut(vec3 force, float most) {
    float size = sqrt(dot(force, force));
    return size > most ? force * (most / size) : force;
}

// Adds the forces of a contact that goes on to those of attraction, and advances its history.
void resist(bool has_bonds, ContactKinematics c, float separation_m_s, vec3 sliding, bool is_bonded,
            inout ContactHistory history, inout ContactForce force) {
    Oscillator oscillator =
        oscillator_of(c.damping_ratio, c.mass_kg, terms[0].normal_stiffness_n_m, terms[0].dt_s);
    float damping = oscillator.damping_n_s_m;
    float load_n = 0.0;
    bool has_ended = false;
    float pressed_n = normal_force(oscillator, c.overlap_m, separation_m_s, history.phase == NEW, is_bonded,
                                   load_n, has_ended);
    history.phase = has_ended ? ENDED : HELD;
    precise vec3 shear = tangential(history.shear_m, c.normal) + terms[0].dt_s * sliding;
    float along_damping = terms[0].tangential_damping_ratio * damping;
    precise vec3 along = -(terms[0].tangential_stiffness_n_m * shear) - along_damping * sliding;

    if (is_bonded) {
        vec3 sprung = terms[0].tangential_stiffness_n_m * shear;
        bool is_torn = -terms[0].normal_stiffness_n_m * c.overlap_m > c.bond_strength_n;
        bool is_sheared = dot(sprung, sprung) > c.bond_shear_strength_n * c.bond_shear_strength_n;
        is_bonded = !is_torn && (c.bond_yields || !is_sheared);
        history.bond_state = is_bonded ? BONDED : UNBONDED;
        history.slow_s = 0.0;
    } else if (has_bonds) {
        float below_m_s = terms[0].bond_below_m_s;
        bool is_slow = dot(c.velocity_m_s, c.velocity_m_s) <= below_m_s * below_m_s;
        history.slow_s = is_slow ? history.slow_s + terms[0].dt_s : 0.0;
    }
    // A bond that fails while its ends are apart ends the contact.
    if (is_bonded || !(c.overlap_m < 0.0)) {
        if (!is_bonded || c.bond_yields) {
            vec3 whole = along;
            along = cut(whole, is_bonded ? c.bond_shear_strength_n : c.friction * load_n);
            if (along != whole)
                shear = terms[0].tangential_stiffness_n_m > 0.0
                            ? -(along + along_damping * sliding) / terms[0].tangential_stiffness_n_m
                            : vec3(0.0);
        }
        history.shear_m = shear;

        if (terms[0].rolling_friction > 0.0) {
            float arm = terms[0].rolling_friction * c.radius_m;
            float stiffness = 2.25 * terms[0].normal_stiffness_n_m * arm * arm;
            precise vec3 rolling = history.rolling + terms[0].dt_s * c.spin_1_s;
            vec3 whole = -stiffness * rolling;
            vec3 couple = cut(whole, arm * load_n);
            if (couple != whole) rolling = -couple / stiffness;
            else couple -= (2.0 * ROLLING_DAMPING * sqrt(c.rolling_inertia_kg_m2 * stiffness)) * c.spin_1_s;
            history.rolling = rolling;
            force.rolling_torque_n_m = couple;
        }
        if (!is_bonded && has_bonds && history.slow_s >= terms[0].bond_after_s && history.slow_s > 0.0) {
            history.bond_state = BONDED;
            history.slow_s = 0.0;
        }
        force.normal_force_n += pressed_n * c.normal;
        force.tangential_force_n = along;
        force.is_kept = true;
    }
}

// Returns the forces of a contact, and advances its history; with `has_bonds`, bonds may form.
ContactForce evaluate_contact(bool has_bonds, ContactKinematics c, inout ContactHistory history) {
    ContactForce force = ContactForce(vec3(0.0), vec3(0.0), vec3(0.0), false);
    float reach = c.attraction_range_m > 0.0 ? clamp(1.0 + c.overlap_m / c.attraction_range_m, 0.0, 1.0)
                  : c.overlap_m >= 0.0       ? 1.0
                                             : 0.0;
    force.normal_force_n = -c.attraction_n * reach * c.normal;
    bool is_bonded = history.bond_state == BONDED;
    if (!(c.overlap_m < 0.0) || is_bonded) {
        precise float separation_m_s = dot(c.velocity_m_s, c.normal);
        precise vec3 sliding = c.velocity_m_s - separation_m_s * c.normal;
        if (history.phase == ENDED && separation_m_s > 0.0 && !is_bonded) {
            history = NEW_CONTACT;
            history.phase = ENDED;
            force.is_kept = true;
        } else {
            resist(has_bonds, c, separation_m_s, sliding, is_bonded, history, force);
        }
    }
    return force;
}

#endif
