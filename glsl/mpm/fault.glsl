// The record of what went wrong first. While `fault_step` is INVALID_INDEX nothing did; from then on no step changes a particle.
#ifndef MPM_FAULT
#define MPM_FAULT

// Why a state is not to be gone on from.
const uint NODE_NOT_FINITE = 0u;
const uint STRAIN_NOT_FINITE = 1u;
const uint INVERTED = 2u;
const uint TOO_FAST = 3u;
const uint GRID_FULL = 4u;

struct MpmFault {
    // First particle, in the order of its step, that a fault was found with; the least of all that report one.
    uint place;
    uint step;
    uint kind;
    uint id;
    // Key of the cell it was in when the step began, and its state when the step ended.
    uint key;
    vec3 position_m;
    vec3 velocity_m_s;
    float determinant;
};

#endif
