// Corrections between two particles, in units of h: `offset` = (x_i − x_j)/h with length q, `multipliers` =
// μ_i + μ_j.

// Returns the correction by the density constraint, to be multiplied by ω V SPLINE_SLOPE_SCALE (Chen2021 eq
// 5.18, 5.24).
vec3 density_correction(float multipliers, vec3 offset, float q) {
    return (q > 0.0 ? -multipliers * spline_slope_shape(q) / q : 0.0) * offset;
}

// Returns the non-penetration correction (Chen2021 eq 5.13, 5.14) of two particles of one mass; `contact_i`,
// `contact_j` are (α, constraints).
vec3 contact_correction(SnowTerms terms, vec2 contact_i, vec2 contact_j, vec3 offset, float q) {
    float overlap = contact_distance(terms, contact_i, contact_j) - q;
    float gain = pair_gain(terms, contact_i, contact_j);
    return (q > 0.0 && overlap > 0.0 ? 0.5 * terms.bounce * gain * overlap / q : 0.0) * offset;
}
