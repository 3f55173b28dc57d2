// Record of the first fault; the clock has its step. From the step after it on no grain is changed. A step
// whose contacts do not fit is held: it changes none, either.
#ifndef DEM_FAULT
#define DEM_FAULT

struct DemFault {
    // Lowest id of a grain that is not finite in that step, of one that has moved by more than MAX_TRAVEL,
    // and of one that touches too many others.
    uint not_finite;
    uint too_fast;
    uint crowded;
    // Required number of contact rows if the step exceeded the capacity; else 0.
    uint n_rows;
    // Lowest index of a piece of a slab that is not finite.
    uint piece_not_finite;
    // Bits of the deepest overlap of grains that touch too many others, as a share of the smaller radius; 0
    // if it is not deep.
    uint overlap;
    // Bits of the largest travel in a step, in radii: of those grains and of the ones that they touch before
    // the step, or of grains that are too fast.
    uint travel;
    // Filled in when the record is read back, like all below: the grain of the fault, at the end of the step.
    float radius_m;
    vec3 position_m;
    vec3 velocity_m_s;
    vec3 spin_1_s;
};

// Distance in radii that a grain's centre or surface may move in a step: beyond it, contacts are missed.
const float MAX_TRAVEL = 1.0;

// Number of contacts of a grain beyond which a deep overlap is a fault. Twelve equal balls touch another;
// more contacts come from unequal radii, surfaces, and attraction, which has a longer range.
const uint MANY_CONTACTS = 24u;
// Overlap that is deep, as a share of the smaller radius.
const float DEEP_OVERLAP = 0.25;

// Maximum number of contacts of a grain: sorting a list takes the square of it in iterations.
const uint MAX_CONTACTS = 240u;

#endif
