// What the kernels that let position-based particles meet bodies take: the same for all particles and steps, in a buffer of one element.
#include "pbd/walls.glsl"

struct BodyTerms {
    Walls walls;
    float dt_s;
    // Support radius h, ω, and the mass of a particle.
    float support_m;
    float over_relaxation;
    float particle_mass_kg;
    // Sums of momentum are in units of one over this, a power of two.
    float quanta_per_n_s;
    // Of water, where a body says nothing: the share s of the drag of smooth_velocity.
    float wall_friction;
    // Of snow, where a body says nothing (000 eq 5.22).
    float static_friction;
    float kinetic_friction;
    uint n_bodies;
    // The axis that heights of heightfields are along.
    uint up_axis;
};

// The time after so many steps and `ahead` more: how many there were is counted on the device.
float step_time_s(uint n_steps, uint ahead, float dt_s) { return float(n_steps + ahead) * dt_s; }
