// Progress of the density solve on the device, and the worst step so far.
struct DensityStatus {
    // 1 once the error is within the tolerance, or the bound on iterations is reached.
    uint is_done;
    // Corrections applied in the last step.
    uint iterations;
    // Error left by the last step: the mean over all particles of max(ρ/ρ₀ − 1, 0).
    float error;
    // Completed and current steps.
    uint n_steps;
    // Steps in which the bound on iterations did not meet the tolerance.
    uint n_unmet;
    // Largest error left by a step, and the number of that step, from 1.
    float worst_error;
    uint worst_step;
};

// Acceleration of the projection of a step (update_pressure.comp), and its end.
struct SolveMomentum {
    // t of the next update, 1 at the beginning and after a restart.
    float t;
    // Share β of the last change of the pressure by which the next update extrapolates.
    float share;
    // Error at the last check.
    float error;
    // Error with which the solve ends.
    float tolerance;
};
