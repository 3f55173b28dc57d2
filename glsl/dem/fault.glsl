// Record of the first fault, and the number of the current step. While `step` is INVALID_INDEX there is no
// fault; from the step after it on no grain is changed.
struct DemFault {
    // Step of the fault.
    uint step;
    // Number of the step that runs, from 1: check_lists.comp, the first pass of a step, advances it.
    uint now;
    // Lowest id of a grain that is not finite in that step, and of one with more contacts than the capacity.
    uint not_finite;
    uint crowded;
    // Required number of contact rows if the step exceeded the capacity; else 0.
    uint n_rows;
    // Lowest index of a piece of a slab that is not finite.
    uint piece_not_finite;
};
