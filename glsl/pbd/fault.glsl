// Faults of position-based steps: their kinds, and the record of the first one.
#ifndef PBD_FAULT
#define PBD_FAULT

// Kinds of faults; if particles have several in one step, the first of this list is reported.
// Position or velocity is not finite at the start of the step.
const uint FAULT_START_NOT_FINITE = 0u;
// Predicted position, velocity or density is not finite after the constraints.
const uint FAULT_NOT_FINITE = 1u;
// A particle that is too fast is often the cause of a density, and the more telling one.
const uint FAULT_TOO_FAST = 2u;
const uint FAULT_TOO_DENSE = 3u;
// Found by the update of the stress of viscoelastic fluid: inverted by its neighbours.
const uint FAULT_INVERTED = 4u;
// Emitters add more particles than there is room for.
const uint FAULT_FULL = 5u;
const uint FAULT_KINDS = 6u;
// There are phases 0 and 1, each with the lowest index of a particle of each kind of fault.
const uint FAULT_PHASES = 2u;

// Returns the place of a kind of fault among the lowest indices.
uint fault_slot(uint kind, uint phase) { return FAULT_PHASES * kind + phase; }

// Returns the place behind the lowest indices of the bits of the largest speed of a phase that is too fast.
uint fastest_slot(uint phase) { return FAULT_PHASES * FAULT_KINDS + phase; }

// Limits of a state without a fault.
struct FaultLimits {
    float max_density_kg_m3;
    float max_speed_m_s;
    uint phase;
};

// Record of the first fault; the clock has its step.
struct PbdFault {
    uint kind;
    uint phase;
    uint id;
    vec3 position_m;
    vec3 velocity_m_s;
    float density_kg_m3;
    // Largest speed in that step, if particles are too fast.
    float fastest_m_s;
};

// A sum of squares above this is not a state of anything; infinities and NaN fail the comparison, too.
const float MAX_SQUARE = 1e30;

// Returns the larger one of the speeds before and after the constraints: walls stop what is too fast.
float speed_of(vec3 v, vec3 u) { return sqrt(max(dot(v, v), dot(u, u))); }

// Returns the kind of fault of a particle whose step began at x with velocity v, and that has the predicted
// position, velocity u and density after the constraints; FAULT_KINDS if there is none.
uint fault_of(FaultLimits limits, vec3 x, vec3 v, vec3 predicted, vec3 u, float density) {
    if (!(dot(x, x) + dot(v, v) < MAX_SQUARE)) return FAULT_START_NOT_FINITE;
    if (!(dot(predicted, predicted) + dot(u, u) < MAX_SQUARE) || !(abs(density) < MAX_SQUARE)) return FAULT_NOT_FINITE;
    if (speed_of(v, u) >= limits.max_speed_m_s) return FAULT_TOO_FAST;
    if (density >= limits.max_density_kg_m3) return FAULT_TOO_DENSE;
    return FAULT_KINDS;
}

#endif
