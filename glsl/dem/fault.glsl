// The record of what went wrong first. While `step` is INVALID_INDEX nothing did; from the step after it on no grain is changed.
struct DemFault {
    uint step;
    // Of the faults of that step, the least grain by id: one that is not finite, and one with more about it than it can remember.
    uint not_finite;
    uint crowded;
    // Rows of contacts that the step needed, if there were fewer; else 0.
    uint n_rows;
    // The least piece of a slab that is not finite.
    uint piece_not_finite;
};
