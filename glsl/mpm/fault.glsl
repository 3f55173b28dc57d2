// Record of the first fault, and the number of the current step. While `step` is INVALID_INDEX there is no
// fault; after it no step changes a particle or the order of particles.
#ifndef MPM_FAULT
#define MPM_FAULT

// Kinds of faults.
const uint NODE_NOT_FINITE = 0u;
const uint STRAIN_NOT_FINITE = 1u;
const uint INVERTED = 2u;
const uint TOO_FAST = 3u;
const uint GRID_FULL = 4u;

struct MpmFault {
    // Step of the fault.
    uint step;
    // Number of the step that runs, counted by the device.
    uint now;
    // Index of the faulty particle, in the order of its step; the lowest of all reported. INVALID_INDEX if
    // the lists of blocks were too short.
    uint place;
    // Filled in when the record is read back, like all below.
    uint kind;
    uint id;
    // Key of its cell at the start of the step, and its state at the end of the step.
    uint key;
    vec3 position_m;
    vec3 velocity_m_s;
    float determinant;
};

// Returns true if a step before this one had a fault.
bool is_frozen(uint fault_step, uint now) { return fault_step < now; }

// Records a fault of particle i in this step; needs a buffer `fault`.
#define RECORD_FAULT(i)                           \
    {                                             \
        atomicMin(fault[0].step, fault[0].now);   \
        atomicMin(fault[0].place, i);             \
    }

#endif
