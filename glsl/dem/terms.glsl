// Parameters of the discrete element method from the scene: the same for all grains and steps, in a buffer of
// one element.
#ifndef DEM_TERMS
#define DEM_TERMS
#include "dem/grid.glsl"

struct DemTerms {
    WrappedGrid grid;
    float dt_s;
    vec3 gravity_m_s2;
    vec3 domain_min_m;
    vec3 domain_max_m;
    // Density of the material of grains.
    float density_kg_m3;
    // k_n and k_t; c_t/c_n.
    float normal_stiffness_n_m;
    float tangential_stiffness_n_m;
    float tangential_damping_ratio;
    // β of c_n = 2β√(m* k_n), μ and μ_r between grains, and on other surfaces.
    float damping_ratio;
    float friction;
    float rolling_friction;
    float wall_damping_ratio;
    // μ of the lower and of the upper walls of the domain, by axis.
    vec3 lower_wall_friction;
    vec3 upper_wall_friction;
    // Bit k is set if wall k (dem/partners.glsl) coincides with a body, which is the wall there.
    uint walls_that_are_bodies;
    // Attraction between touching grains, and the gap over which it falls to 0; likewise towards a terrain.
    float cohesion_n;
    float cohesion_range_m;
    float adhesion_n;
    float adhesion_range_m;
    // k of the deceleration k v² by turbulent drag; 0 without.
    float turbulent_drag_1_m;
    // Bonds: their strengths, the speed below which they form, the time for which grains must have been that
    // slow, and the last step in which they form.
    uint has_bonds;
    float bond_strength_n;
    float bond_shear_strength_n;
    float bond_below_m_s;
    float bond_after_s;
    uint bond_forms_until;
    // Weak layer: strengths of the bonds of grains to a terrain, the last step in which they form, the step
    // from which none holds within a circle, and the circle's centre on the map and radius.
    float layer_strength_n;
    float layer_shear_strength_n;
    uint layer_forms_until;
    uint layer_fails_at;
    vec2 layer_centre_m;
    float layer_radius_m;
    uint n_bodies;
    // Index of the first body that the scene names: loads on the bodies from it on are measured.
    uint first_named;
    // Number of pieces of slabs, and the grid for their search.
    uint n_pieces;
    WrappedGrid piece_grid;
    // Quanta per N in which forces on pieces and bodies are summed, a power of two.
    float quanta_per_n;
    // Vertical axis of the heights of terrains.
    uint up_axis;
};

const float PI = 3.14159265;

float mass_of(DemTerms t, float radius_m) {
    return t.density_kg_m3 * (4.0 / 3.0 * PI) * radius_m * radius_m * radius_m;
}

// Returns the gap up to which grains may act on each other: a bond breaks before its gap is this wide.
float contact_gap(DemTerms t) {
    return max(t.cohesion_range_m, t.has_bonds != 0u ? t.bond_strength_n / t.normal_stiffness_n_m : 0.0);
}

// Returns the gap up to which a body may act on a grain.
float surface_gap(DemTerms t) {
    return max(t.adhesion_range_m, t.layer_strength_n / t.normal_stiffness_n_m);
}

// Inertia of a ball about any axis through its centre, in units of m r².
const float BALL_INERTIA = 0.4;

#endif
