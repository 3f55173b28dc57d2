// Corrections between two particles, in units of h: `offset` = (x_i − x_j)/h with length q, `multipliers` =
// μ_i v_j + μ_j v_i with their volumes over that of water, `contact_q` the contact distance of their phases.

// Returns the correction by the density constraint, to be multiplied by ω V SPLINE_SLOPE_SCALE (Chen2021 eq
// 5.18, 5.24).
vec3 density_correction(float multipliers, vec3 offset, float q) {
    return (q > 0.0 ? -multipliers * spline_slope_shape(q) / q : 0.0) * offset;
}

// Returns the non-penetration correction (Chen2021 eq 5.13, 5.14) of two particles of one mass; `contact_i`,
// `contact_j` are (α, constraints).
vec3 contact_correction(SnowTerms terms, float contact_q, vec2 contact_i, vec2 contact_j, vec3 offset, float q) {
    float overlap = contact_distance(contact_q, contact_i, contact_j) - q;
    float gain = pair_gain(terms, contact_i, contact_j);
    return (q > 0.0 && overlap > 0.0 ? 0.5 * terms.bounce * gain * overlap / q : 0.0) * offset;
}

// Returns Δt²/m times the force of a contact spring on particle i, in m; `offset_m` = x_i − x_j.
vec3 contact_force(SnowTerms terms, float contact_q, vec2 contact_i, vec2 contact_j, vec3 offset_m) {
    precise float length2 = offset_m.x * offset_m.x + offset_m.y * offset_m.y + offset_m.z * offset_m.z;
    float length_m = sqrt(length2);
    float overlap_m = contact_distance(contact_q, contact_i, contact_j) * terms.support_m - length_m;
    float spring = terms.contact_spring * min(contact_i.x, contact_j.x);
    return (length2 > 0.0 && overlap_m > 0.0 ? spring * overlap_m / length_m : 0.0) * offset_m;
}
