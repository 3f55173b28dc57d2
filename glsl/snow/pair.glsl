// Corrections between two particles, in units of h: `offset` = (x_i − x_j)/h with length q, `multipliers` = μ_i + μ_j.

// The density constraint's share, to be multiplied by ω V SPLINE_SLOPE_SCALE (000 eq 5.18, 5.24).
vec3 density_correction(float multipliers, vec3 offset, float q) {
    return (q > 0.0 ? -multipliers * spline_slope_shape(q) / q : 0.0) * offset;
}

// Non-penetration (000 eq 5.13, 5.14) of two particles of one mass; `gain` is pair_gain's.
vec3 contact_correction(SnowTerms terms, float gain, vec3 offset, float q) {
    return (q > 0.0 ? 0.5 * terms.bounce * gain * (terms.contact_q - q) / q : 0.0) * offset;
}
