// Parameters of the material point method from the scene: the same for all particles, nodes and steps, in a
// buffer of one element. In a plane the third component of vectors is 0, and matrices are embedded in 3×3
// ones: F with a 1, all others with 0.
#ifndef MPM_TERMS
#define MPM_TERMS
#include "sparse/blocks.glsl"

struct MpmTerms {
    BlockLattice lattice;
    // Side h of a cell, and Δt.
    float cell_m;
    float dt_s;
    vec3 gravity_m_s2;
    vec3 domain_min_m;
    vec3 domain_max_m;
    // Share α of FLIP in a step (Breekveldt2017 eq 3.31).
    float flip_ratio;
    // μ₀ and λ₀, ξ, the lower bound of J_P in hardening, and the bounds of singular values (Breekveldt2017 eq
    // 3.9, 3.30).
    float mu_pa;
    float lambda_pa;
    float hardening;
    float min_plastic_volume;
    float sigma_min;
    float sigma_max;
    // Share of the strain beyond these bounds that becomes plastic in a step, Δt/(τ + Δt) with τ the
    // relaxation time (Duvaut & Lions 1972); 1 without viscosity.
    float yield_share;
    uint is_plastic;
    // 1 if changes of F below 2⁻²⁴ count as 0.
    uint has_strain_floor;
    // Mass up to which a node takes no stress.
    float node_mass_cutoff_kg;
    // μ of the lower and of the upper walls of the domain, by axis; negative for a sticky wall.
    vec3 lower_wall_friction;
    vec3 upper_wall_friction;
    uint n_bodies;
    // Index of the first body that the scene names: loads on bodies from it on are measured. Quanta of sums
    // of their impulses per N s, a power of two.
    uint first_named;
    float quanta_per_n_s;
    // Vertical axis of heightfields.
    uint up_axis;
    // Values of one quantum of fixed point: kg, and kg m/s.
    float mass_quantum;
    float momentum_quantum;
    // β Δt² of the semi-implicit step (Breekveldt2017 eq 3.25).
    float implicit_dt2;
};

// Transfer of velocities between particles and nodes.
const uint PIC_FLIP = 0u;
const uint APIC = 1u;
const uint MLS = 2u;

#endif
