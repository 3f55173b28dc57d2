// Contacts of a grain: their histories, in the rows of its contact list, and the sum of their forces.
//
// Needs the buffers `terms` of DemTerms, `near` of uint, `list_shear` of vec4 and `list_rolling` of vec3, and
// the constant HAS_ROLLING.
#ifndef DEM_GRAIN_CONTACT
#define DEM_GRAIN_CONTACT
#include "dem/contact_law.glsl"
#include "dem/contact_rows.glsl"
#include "dem/grain.glsl"
#include "dem/lists.glsl"

// The sum of the grain's contact forces.
vec3 force_n;
vec3 torque_n_m;
// Number of surfaces within reach.
uint n_surfaces;

// Returns the history of the contact in a row with this first word.
ContactHistory load_history(uint row, uint word) {
    if ((word & KEPT) == 0u) return NEW_CONTACT;
    vec4 shear = list_shear[row];
    uint bond_state = shear.w == IS_BONDED ? BONDED : UNBONDED;
    uint phase = shear.w == IS_ENDED ? ENDED : HELD;
    ContactHistory history = ContactHistory(shear.xyz, vec3(0.0), max(shear.w, 0.0), bond_state, phase);
    if (HAS_ROLLING != 0u) history.rolling = list_rolling[row];
    return history;
}

// Stores the history of a contact, if it goes on.
void store_history(uint row, uint word, bool is_kept, ContactHistory history) {
    uint marked = is_kept ? word | KEPT : word & ~KEPT;
    if (marked != word) near[row] = marked;
    if (!is_kept) return;
    float slow_s = history.bond_state == BONDED ? IS_BONDED
                   : history.phase == ENDED     ? IS_ENDED
                                                : history.slow_s;
    list_shear[row] = vec4(history.shear_m, slow_s);
    if (HAS_ROLLING != 0u) list_rolling[row] = history.rolling;
}

void accumulate(ContactForce force, vec3 normal, float lever_m) {
    force_n += force.normal_force_n + force.tangential_force_n;
    torque_n_m += force.rolling_torque_n_m - lever_m * cross(normal, force.tangential_force_n);
}

// Distance from the centre of a grain to the middle of its contact with a surface.
float lever_of(float r, vec4 surface) { return r - 0.5 * max(r - surface.w, 0.0); }

// State of the weak layer between grains and a surface: without one, or after its failure; while its bonds
// hold; and while they form, too, at once where a grain touches, and yield in shear in place of failing.
const uint NO_LAYER = 0u;
const uint LAYER_HOLDS = 1u;
const uint LAYER_FORMS = 2u;

// Returns the state of the weak layer on a terrain at a point in a step.
uint layer_at(DemTerms t, vec3 x, uint step) {
    vec2 apart = (t.up_axis == 1u ? x.xz : x.xy) - t.layer_centre_m;
    bool is_inside = dot(apart, apart) <= t.layer_radius_m * t.layer_radius_m;
    if (t.layer_strength_n == 0.0 || is_inside && step >= t.layer_fails_at) return NO_LAYER;
    return step <= t.layer_forms_until ? LAYER_FORMS : LAYER_HOLDS;
}

// Adds the contact with a surface in a row with this first word, given the velocity of the surface and its
// contribution to 1/m*, 0 if contacts do not move it.
ContactForce touch_surface(bool has_bonds, uint row, uint word, vec4 surface, vec3 surface_velocity,
                           vec3 surface_spin, float inverse_mass, float friction, float damping_ratio,
                           float attraction_n, float range_m, uint layer, float r, float m, vec3 v, vec3 w) {
    float overlap = r - surface.w;
    ContactHistory history = load_history(row, word);
    bool was_bonded = layer != NO_LAYER && history.bond_state == BONDED;
    ContactForce force = ContactForce(vec3(0.0), vec3(0.0), vec3(0.0), false);
    if (!(overlap < -range_m) || was_bonded) {
        ++n_surfaces;
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
        c.bond_strength_n = terms[0].layer_strength_n;
        c.bond_shear_strength_n = terms[0].layer_shear_strength_n;
        c.bond_yields = layer == LAYER_FORMS;
        // Nothing freezes to a surface but by a weak layer.
        history.slow_s = 0.0;
        history.bond_state = was_bonded ? BONDED : UNBONDED;
        force = evaluate_contact(has_bonds, c, history);
        history.slow_s = 0.0;
        bool is_bonded = layer == LAYER_FORMS || was_bonded && history.bond_state == BONDED;
        history.bond_state = is_bonded ? BONDED : UNBONDED;
        accumulate(force, c.normal, lever);
    }
    store_history(row, word, force.is_kept, history);
    return force;
}

#endif
