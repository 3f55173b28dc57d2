// Distance constraint with compliance (Macklin et al. 2016, XPBD), C = |x_ij| − L, for the bonds of any
// solver.
//
// `compliance_dt2` is α̃ = α/Δt² in m/(N s²), with α in m/N the inverse of the spring constant;
// `inverse_mass_sum` is w_i + w_j in 1/kg; `multiplier` is λ in kg m, summed over the iterations of a step,
// from 0.

// Δλ = gain · (−C − α̃ λ)/(w_i + w_j + α̃). A gain below 1 relaxes Jacobi iterations.
float bond_multiplier_step(
    float gain, float stretch_m, float compliance_dt2, float multiplier, float inverse_mass_sum
) {
    return gain * (-stretch_m - compliance_dt2 * multiplier) / (inverse_mass_sum + compliance_dt2);
}

// Correction of particle i by Δλ: w_i Δλ ∇C, ∇C = (x_i − x_j)/|x_ij|. `offset_m` = x_i − x_j, of length
// `length_m` > 0.
vec3 bond_correction(float inverse_mass, float multiplier_step, vec3 offset_m, float length_m) {
    return inverse_mass * multiplier_step / length_m * offset_m;
}
