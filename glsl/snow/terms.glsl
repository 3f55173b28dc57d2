// Parameters of the two-phase step from the scene: the same for all particles and steps, in a buffer of one
// element.
#include "grid/grid.glsl"
#include "pbd/walls.glsl"

struct SnowTerms {
    Grid grid;
    Walls walls;
    float dt_s;
    // Support radius h, and V/h³: the volume of a particle in sums.
    float support_m;
    float volume_h3;
    float rest_density_kg_m3;
    float particle_mass_kg;
    // ε h² of the density constraint, ω, and artificial pressure (Huang2016 eq 2.21).
    float relaxation;
    float over_relaxation;
    float pressure_strength;
    float pressure_inverse_shape;
    uint pressure_exponent;
    uint iterations;
    // Distance at which particles touch, in h (Chen2021 eq 5.13): of snow, and of snow and water.
    float contact_q;
    float mixed_contact_q;
    // Volume of a particle of snow over that of water, of the same mass, and the same of its spacing.
    float snow_volume;
    float snow_spacing;
    // k_bounce (eq 5.14); 0 if contacts are springs.
    float bounce;
    // 1 if a pair's correction is divided by the larger number of constraints of its ends (eq 5.26).
    uint is_averaged;
    float static_friction;
    float kinetic_friction;
    // k_stretch (eq 5.12); 0 if links are springs.
    float stretch;
    // k Δt²/m of the springs of contacts and of links; 0 for corrections by k_bounce and k_stretch.
    float contact_spring;
    float link_spring;
    // β, the share of the difference to the springs' present forces that an iteration applies.
    float spring_share;
    // Distance between the slots of a link record, and number of slots; 0 slots without links.
    uint link_stride;
    uint link_slots;
    // Shape matching: the share of the distance to the goal, over one more than the slots of a record; 0:
    // off.
    float shape_share;
};

// Returns the factor on a pair's contact and link corrections: ω over the larger number of constraints of the
// two ends (eq 5.26, 5.27), faded in by α of the end that changed phase last (eq 6.5, 6.6). `contact` is (α,
// constraints) of an end.
//
// The paper divides by each particle's own number and fades by its own α. Both ends must agree, or every
// collision of particles with different neighbourhoods creates momentum.
float pair_gain(SnowTerms terms, vec2 contact_i, vec2 contact_j) {
    float constraints = terms.is_averaged != 0u ? max(contact_i.y, contact_j.y) : 1.0;
    return terms.over_relaxation * min(contact_i.x, contact_j.x) / constraints;
}

// Returns the distance at which a pair touches, in h, given that of its phases. It grows with α of the end
// that changed phase last, so that water which freezes among close neighbours separates from them no faster
// than D ω/Δt. Fading alone bounds a correction by a share of the overlap, and the overlap of water is not
// bounded.
float contact_distance(float contact_q, vec2 contact_i, vec2 contact_j) {
    return contact_q * min(contact_i.x, contact_j.x);
}
