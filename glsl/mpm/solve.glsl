// Conjugate residuals on nodes for B v = v*, B = I + β Δt² M⁻¹ K (004 eq 3.25), which is symmetric in the inner product Σ m a·b.
//
// z is the residual v* − B v, p the direction, q = B p, w = B z. All sums are taken in that inner product.
#ifndef MPM_SOLVE
#define MPM_SOLVE

struct MpmSolve {
    // z·w, and what it was an iteration ago.
    float product;
    // Length of the next step along p, and the share of p that the next direction keeps.
    float along;
    float keep;
    // |v*|², and |z|² now.
    float start;
    float residual;
    uint iterations;
    uint is_done;
};

#endif
