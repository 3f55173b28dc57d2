// Record of the first fault; the clock has its step, after which no step changes a particle or the order of
// particles.
#ifndef MPM_FAULT
#define MPM_FAULT

// Kinds of faults.
const uint NODE_NOT_FINITE = 0u;
const uint STRAIN_NOT_FINITE = 1u;
const uint INVERTED = 2u;
const uint TOO_FAST = 3u;
const uint GRID_FULL = 4u;

struct MpmFault {
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

// Records a fault of particle i in this step; needs the buffers `clock` and `fault`.
#define RECORD_FAULT(i)                 \
    {                                   \
        RECORD_FAULT_STEP();            \
        atomicMin(fault[0].place, i);   \
    }

#endif
