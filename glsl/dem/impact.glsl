// Force and impulse of impacts on an obstacle.
struct Impact {
    // Force of the last step, and the maximum magnitude of any step.
    vec3 force_n;
    float peak_n;
    // Σ F Δt since the initial state, and its rounding compensation (Kahan): in a long run the terms are far
    // smaller than the sum.
    vec3 impulse_n_s;
    vec3 rounding_n_s;
};

void add_impulse(inout Impact impact, vec3 impulse_n_s) {
    precise vec3 term = impulse_n_s - impact.rounding_n_s;
    precise vec3 sum = impact.impulse_n_s + term;
    precise vec3 taken = sum - impact.impulse_n_s;
    precise vec3 rest = taken - term;
    impact.rounding_n_s = rest;
    impact.impulse_n_s = sum;
}
