// Record of the first fault. While `step` is INVALID_INDEX there is none; from the step after it on no grain
// is changed.
struct DemFault {
    uint step;
    // Lowest id of a grain that is not finite in that step, and of one with more contacts than the capacity.
    uint not_finite;
    uint crowded;
    // Required number of contact rows if the step exceeded the capacity; else 0.
    uint n_rows;
    // Lowest index of a piece of a slab that is not finite.
    uint piece_not_finite;
};
