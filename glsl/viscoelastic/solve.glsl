// Conjugate gradients for implicit viscosity, (I − Δt a) v = base: the operator is symmetric and positive.
struct ViscositySolve {
    // r·r of the residual, and its value before.
    float square;
    // Length of the step along the direction, and the factor on it in the next direction.
    float along;
    float keep;
    // Value of r·r at which the solve ends.
    float target;
    uint iterations;
    uint is_done;
    // Steps that ended at the bound of iterations, and all steps.
    uint n_unmet;
    uint n_steps;
};
