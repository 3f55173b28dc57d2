// What the kernels of the discrete element method take from the scene: the same for all grains and steps, in a buffer of one element.
#ifndef DEM_TERMS
#define DEM_TERMS
#include "dem/grid.glsl"

struct DemTerms {
    WrappedGrid grid;
    float dt_s;
    vec3 gravity_m_s2;
    vec3 domain_min_m;
    vec3 domain_max_m;
    // Of what grains are made of.
    float density_kg_m3;
    // k_n and k_t; c_t/c_n.
    float normal_stiffness_n_m;
    float tangential_stiffness_n_m;
    float tangential_damping_ratio;
    // β of c_n = 2β√(m* k_n), μ and μ_r between grains, and on what is not a grain.
    float damping_ratio;
    float friction;
    float rolling_friction;
    float wall_damping_ratio;
    float wall_friction;
    // Attraction of grains that touch, and the gap over which it falls to nothing; the same towards a terrain.
    float cohesion_n;
    float cohesion_range_m;
    float adhesion_n;
    float adhesion_range_m;
    // Bonds: loads that break them, the speed below which they form, and how long grains must have been as slow.
    uint has_bonds;
    float bond_strength_n;
    float bond_shear_strength_n;
    float bond_below_m_s;
    float bond_after_s;
    uint n_bodies;
    // Bodies from this one on are obstacles: what hits them is measured.
    uint first_obstacle;
    // Pieces of slabs, and the grid that they are found in.
    uint n_pieces;
    WrappedGrid piece_grid;
    // Forces on pieces and obstacles add up in units of 1/this, a power of two.
    float quanta_per_n;
    // The axis that heights of terrains are along.
    uint up_axis;
};

const float PI = 3.14159265;

float mass_of(DemTerms t, float radius_m) { return t.density_kg_m3 * (4.0 / 3.0 * PI) * radius_m * radius_m * radius_m; }

// Of a ball about any axis through its centre, in units of m r².
const float BALL_INERTIA = 0.4;

#endif
