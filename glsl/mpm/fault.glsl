// Record of the first fault. While `fault_step` is INVALID_INDEX there is none; after a fault no step changes
// a particle.
#ifndef MPM_FAULT
#define MPM_FAULT

// Kinds of faults.
const uint NODE_NOT_FINITE = 0u;
const uint STRAIN_NOT_FINITE = 1u;
const uint INVERTED = 2u;
const uint TOO_FAST = 3u;
const uint GRID_FULL = 4u;

struct MpmFault {
    // Index of the faulty particle, in the order of its step; the lowest of all reported.
    uint place;
    uint step;
    uint kind;
    uint id;
    // Key of its cell at the start of the step, and its state at the end of the step.
    uint key;
    vec3 position_m;
    vec3 velocity_m_s;
    float determinant;
};

#endif
