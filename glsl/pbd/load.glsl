// What has acted on a body. Torques are about the body's centre (common/motion.glsl).
struct BodyLoad {
    // Of the last step, and the greatest size of any step.
    vec3 force_n;
    float peak_n;
    vec3 torque_n_m;
    // Σ F Δt since the beginning, and what its additions have rounded off (Kahan): a long run adds far less at a time than it has.
    vec3 impulse_n_s;
    vec3 impulse_rounding_n_s;
    vec3 angular_impulse_n_m_s;
    vec3 angular_rounding_n_m_s;
};

void add_rounded(inout vec3 sum, inout vec3 rounding, vec3 added) {
    precise vec3 term = added - rounding;
    precise vec3 total = sum + term;
    precise vec3 taken = total - sum;
    precise vec3 rest = taken - term;
    rounding = rest;
    sum = total;
}
