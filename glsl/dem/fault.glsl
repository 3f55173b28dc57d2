// The record of what went wrong first. While `step` is INVALID_INDEX nothing did; from the step after it on no grain is changed.
struct DemFault {
    uint step;
    // Of the faults of that step, the least grain by id: one that is not finite, and one that touches more than can be remembered.
    uint not_finite;
    uint crowded;
    // The least piece of a slab that is not finite.
    uint piece_not_finite;
};
