// Clock of a simulation: its steps and their substeps, counted on the device, and the step of the first
// fault, from which on nothing changes.
#ifndef COMMON_CLOCK
#define COMMON_CLOCK

struct StepClock {
    // Step of the first fault; INVALID_INDEX while there is none.
    uint fault_step;
    // Number of the step that runs, from 1; between steps that of the last one. Steps after one that is held
    // do not count.
    uint step;
    // Number of substeps begun, of those with faults too.
    uint n_begun;
    // n_begun of the substep that left the state as it was, because a record of fixed size cannot hold it; 0
    // while there is none.
    uint held_at;
    // Substep that runs, from 0; between steps the last one.
    uint substep;
    // Number of substeps of the step.
    uint n_substeps;
    // Length of a step in s.
    float step_s;
};

// Begins a substep: the next of the step, or the first of the next, which has n_substeps.
void advance(inout StepClock now, uint n_substeps) {
    now.n_begun += 1u;
    if (now.held_at != 0u) return;
    now.substep += 1u;
    if (now.substep < now.n_substeps) return;
    now.step += 1u;
    now.substep = 0u;
    now.n_substeps = n_substeps;
}

// Returns true if the running substep changes nothing: a step before it had a fault, or it cannot be held.
bool is_frozen(StepClock now) { return now.fault_step < now.step || now.held_at != 0u; }

// Returns true if the running step, or one before it, had a fault.
bool has_fault(StepClock now) { return now.fault_step <= now.step; }

// Returns the time in s at which the running substep, of dt_s, begins.
float substep_start_s(StepClock now, float dt_s) {
    precise float time_s = float(now.step - 1u) * now.step_s + float(now.substep) * dt_s;
    return time_s;
}

// Returns the time in s at which the running substep ends; between steps the present time.
float substep_end_s(StepClock now, float dt_s) {
    precise float time_s = now.substep + 1u >= now.n_substeps
        ? float(now.step) * now.step_s
        : float(now.step - 1u) * now.step_s + float(now.substep + 1u) * dt_s;
    return time_s;
}

// Makes the running step the first with a fault, unless there is one; needs a buffer `clock`.
#define RECORD_FAULT_STEP() atomicMin(clock[0].fault_step, clock[0].step)

// Holds the running substep, unless one before it is; needs a buffer `clock`.
#define HOLD_SUBSTEP() if (clock[0].held_at == 0u) clock[0].held_at = clock[0].n_begun

#endif
