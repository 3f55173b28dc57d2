// Density constraint of a particle among both phases (Chen2021 eq 5.23, 5.16–5.19), summed neighbour by
// neighbour, each with its volume: the constraint is that of the volume that particles take.

struct DensitySum {
    float shape;
    float sum_squares;
    // Sum of h ∇C.
    vec3 gradient;
};

DensitySum density_of_self(float volume) { return DensitySum(volume * spline_shape(0.0), 0.0, vec3(0.0)); }

// Adds a neighbour. `offset` = (x_i − x_j)/h, with length q below 1; `volumes` is the neighbour's volume over
// that of a particle of water.
void add_density(inout DensitySum sum, SnowTerms terms, vec3 offset, float q, float volumes) {
    sum.shape += volumes * spline_shape(q);
    float slope = SPLINE_SLOPE_SCALE * terms.volume_h3 * volumes * spline_slope_shape(q);
    sum.sum_squares += slope * slope;
    // Coincident particles have no direction and equal sums; only different velocities separate them.
    sum.gradient -= (q > 0.0 ? slope / q : 0.0) * offset;
}

// Returns λ, and ρ/ρ₀ in `ratio`; `closed` and `wall_gradient` are the contributions of walls to the two.
float multiplier_of(DensitySum sum, SnowTerms terms, float closed, vec3 wall_gradient, out float ratio) {
    ratio = SPLINE_SCALE * terms.volume_h3 * sum.shape + closed;
    vec3 gradient = sum.gradient + wall_gradient;
    float excess = max(ratio - 1.0, 0.0);
    return -excess / (dot(gradient, gradient) + sum.sum_squares + terms.relaxation);
}
