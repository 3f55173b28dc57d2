// Kinematics, history and forces of contacts (dem/contact_law.glsl).
#ifndef DEM_CONTACT
#define DEM_CONTACT
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

#endif
