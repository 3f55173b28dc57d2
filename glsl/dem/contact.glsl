// The law of a contact: a linear spring and damper across it (003 eq 3.4, 3.7), another along it up to Coulomb's limit (eq 3.9), a third
// against rolling and twisting, attraction (eq 3.11) and bonds.
//
// Seen from the other side, normal, velocities and memory are the same numbers with the other sign; `precise` and sums that commute see
// to it that so are the forces, to the bit.
#ifndef DEM_CONTACT
#define DEM_CONTACT
#include "common/vectors.glsl"
#include "dem/terms.glsl"

// What a contact remembers from step to step.
struct Memory {
    // How far it is sprung along the surface, in m, and by how far it has rolled and twisted, in rad.
    vec3 shear_m;
    vec3 rolling;
    // For how long it has been slow enough to freeze, in s; below 0: it is a bond.
    float slow_s;
};

struct Touch {
    // From the other to this one, a unit vector; how far they overlap, below 0 a gap.
    vec3 normal;
    float overlap_m;
    // Of this one's surface against the other's, at the contact; and how fast it turns against the other.
    vec3 velocity_m_s;
    vec3 spin_1_s;
    // m* and R*, and m r² of both together about the contact.
    float mass_kg;
    float radius_m;
    float rolling_inertia_kg_m2;
    float damping_ratio;
    float friction;
    // Attraction at no gap, and where it ends.
    float attraction_n;
    float attraction_range_m;
};

struct Response {
    vec3 across_n;
    vec3 along_n;
    // Resists rolling and twisting.
    vec3 couple_n_m;
    // Whether there is anything to remember.
    bool is_kept;
};

const float BONDED = -1.0;
// Share of critical damping of the spring against rolling (Ai et al. 2011).
const float ROLLING_DAMPING = 0.3;

// `force` cut to a limit, and the spring's part of it.
vec3 cut(vec3 force, float most) {
    float size = sqrt(dot(force, force));
    return size > most ? force * (most / size) : force;
}

Response respond(DemTerms t, Touch c, inout Memory memory) {
    Response response = Response(vec3(0.0), vec3(0.0), vec3(0.0), false);
    float reach = c.attraction_range_m > 0.0 ? clamp(1.0 + c.overlap_m / c.attraction_range_m, 0.0, 1.0) : c.overlap_m >= 0.0 ? 1.0 : 0.0;
    response.across_n = -c.attraction_n * reach * c.normal;
    bool is_bonded = memory.slow_s < 0.0;
    if (c.overlap_m < 0.0 && !is_bonded) return response;

    precise float parting = dot(c.velocity_m_s, c.normal);
    precise vec3 sliding = c.velocity_m_s - parting * c.normal;
    float damping = 2.0 * c.damping_ratio * sqrt(c.mass_kg * t.normal_stiffness_n_m);
    float pressed = t.normal_stiffness_n_m * c.overlap_m - damping * parting;
    precise vec3 shear = tangential(memory.shear_m, c.normal) + t.dt_s * sliding;
    float along_damping = t.tangential_damping_ratio * damping;
    precise vec3 along = -(t.tangential_stiffness_n_m * shear) - along_damping * sliding;

    if (is_bonded) {
        vec3 sprung = t.tangential_stiffness_n_m * shear;
        bool is_torn = -t.normal_stiffness_n_m * c.overlap_m > t.bond_strength_n;
        is_bonded = !is_torn && dot(sprung, sprung) <= t.bond_shear_strength_n * t.bond_shear_strength_n;
        memory.slow_s = is_bonded ? BONDED : 0.0;
        if (!is_bonded && c.overlap_m < 0.0) return response;
    } else if (t.has_bonds != 0u) {
        bool is_slow = dot(c.velocity_m_s, c.velocity_m_s) <= t.bond_below_m_s * t.bond_below_m_s;
        memory.slow_s = is_slow ? memory.slow_s + t.dt_s : 0.0;
    }
    float load = max(pressed, 0.0);
    if (!is_bonded) {
        vec3 whole = along;
        along = cut(whole, c.friction * load);
        if (along != whole)
            shear = t.tangential_stiffness_n_m > 0.0 ? -(along + along_damping * sliding) / t.tangential_stiffness_n_m : vec3(0.0);
    }
    memory.shear_m = shear;

    if (t.rolling_friction > 0.0) {
        float arm = t.rolling_friction * c.radius_m;
        float stiffness = 2.25 * t.normal_stiffness_n_m * arm * arm;
        precise vec3 rolling = memory.rolling + t.dt_s * c.spin_1_s;
        vec3 whole = -stiffness * rolling;
        vec3 couple = cut(whole, arm * load);
        if (couple != whole) rolling = -couple / stiffness;
        else couple -= (2.0 * ROLLING_DAMPING * sqrt(c.rolling_inertia_kg_m2 * stiffness)) * c.spin_1_s;
        memory.rolling = rolling;
        response.couple_n_m = couple;
    }
    if (!is_bonded && t.has_bonds != 0u && memory.slow_s >= t.bond_after_s && memory.slow_s > 0.0) memory.slow_s = BONDED;
    response.across_n += pressed * c.normal;
    response.along_n = along;
    response.is_kept = true;
    return response;
}

#endif
