// Conjugate residuals on nodes for B v = v*, B = I + β Δt² M⁻¹ K (Breekveldt2017 eq 3.25), which is symmetric
// in the inner product Σ m a·b.
//
// z is the residual v* − B v, p the direction, q = B p, w = B z. All sums are taken in that inner product.
#ifndef MPM_SOLVE
#define MPM_SOLVE

struct MpmSolve {
    // z·w, and its value in the previous iteration.
    float product;
    // Length of the next step along p, and the factor on p in the next direction.
    float along;
    float keep;
    // |v*|², and the current |z|².
    float start;
    float residual;
    uint iterations;
    uint is_done;
};

// Constraint that holds a node in all directions. The constraint on the change of a node's velocity is
// encoded in a vector `held`: 0 without a surface, the unit normal of one surface, twice the direction of the
// edge of two, three times any direction if no change is free.
const vec3 HELD_FAST = vec3(3.0, 0.0, 0.0);

vec3 left_free(vec3 held, vec3 change) {
    float kind = dot(held, held);
    if (kind == 0.0) return change;
    if (kind < 2.0) return change - dot(held, change) * held;
    if (kind < 6.0) return 0.25 * dot(held, change) * held;
    return vec3(0.0);
}

// Adds one surface to a constraint.
vec3 hold(vec3 held, vec3 normal) {
    float kind = dot(held, held);
    if (kind == 0.0) return normal;
    if (kind < 2.0) {
        vec3 edge = cross(held, normal);
        float sine = sqrt(dot(edge, edge));
        return sine > 1e-3 ? 2.0 * edge / sine : held;
    }
    return kind < 6.0 && abs(dot(held, normal)) < 2e-3 ? held : HELD_FAST;
}

#endif
