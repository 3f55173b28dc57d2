// Parameters of the kernels for bodies among position-based particles: the same for all particles and steps,
// in a buffer of one element.
#include "pbd/walls.glsl"

struct BodyTerms {
    Walls walls;
    // Minimum distance of particles from bodies.
    float clearance_m;
    // Spacing of snow over that of water, of which the clearances are those.
    float snow_spacing;
    float dt_s;
    // Support radius h, ω, and the mass of a particle.
    float support_m;
    float over_relaxation;
    float particle_mass_kg;
    // Quanta of the sums of momentum per N s, a power of two.
    float quanta_per_n_s;
    // Wall friction of water, the share s of the drag of smooth_velocity, for bodies without their own.
    float wall_friction;
    // Friction of snow (Chen2021 eq 5.22), for bodies without their own.
    float static_friction;
    float kinetic_friction;
    uint n_bodies;
    // Index of the first body that the scene names: loads on bodies from it on are measured.
    uint first_named;
    // Axis of the heights of heightfields.
    uint up_axis;
};
