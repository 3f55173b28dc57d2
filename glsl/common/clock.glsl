// Clock of a simulation: its steps, counted on the device, and the step of the first fault, from which on
// nothing changes.
#ifndef COMMON_CLOCK
#define COMMON_CLOCK

struct StepClock {
    // Step of the first fault; INVALID_INDEX while there is none.
    uint fault_step;
    // Number of the step that runs, from 1; between steps that of the last one.
    uint step;
    // 1 if the running step leaves the state as it was, because a record of fixed size cannot hold it.
    uint is_held;
};

// Returns true if the running step changes nothing: one before it had a fault, or it cannot be held.
bool is_frozen(StepClock now) { return now.fault_step < now.step || now.is_held != 0u; }

// Returns true if the running step, or one before it, had a fault.
bool has_fault(StepClock now) { return now.fault_step <= now.step; }

// Returns the time in s at which the running step begins.
float step_start_s(StepClock now, float dt_s) {
    precise float time_s = float(now.step - 1u) * dt_s;
    return time_s;
}

// Returns the time in s at which the running step ends; between steps the present time.
float step_end_s(StepClock now, float dt_s) {
    precise float time_s = float(now.step) * dt_s;
    return time_s;
}

// Makes the running step the first with a fault, unless there is one; needs a buffer `clock`.
#define RECORD_FAULT_STEP() atomicMin(clock[0].fault_step, clock[0].step)

#endif
