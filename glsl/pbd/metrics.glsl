// What is measured of a whole fluid, and how two parts' measures combine.
//
// merge is associative up to rounding; the kernels merge in an order fixed by the particle order alone, so that the same
// state gives the same bits whatever the device's subgroups are.

struct FluidMetrics {
    vec3 velocity_sum_m_s;
    float kinetic_j_kg;
    float potential_j_kg;
    float density_sum_kg_m3;
    float density_max_kg_m3;
    float speed_max_m_s;
    vec3 lower_m;
    vec3 upper_m;
    uint n_not_finite;
    uint n_outside;
};

const float HUGE = 3.0e38;

FluidMetrics nothing() {
    return FluidMetrics(vec3(0.0), 0.0, 0.0, 0.0, 0.0, 0.0, vec3(HUGE), vec3(-HUGE), 0u, 0u);
}

FluidMetrics merge(FluidMetrics a, FluidMetrics b) {
    return FluidMetrics(
        a.velocity_sum_m_s + b.velocity_sum_m_s,
        a.kinetic_j_kg + b.kinetic_j_kg,
        a.potential_j_kg + b.potential_j_kg,
        a.density_sum_kg_m3 + b.density_sum_kg_m3,
        max(a.density_max_kg_m3, b.density_max_kg_m3),
        max(a.speed_max_m_s, b.speed_max_m_s),
        min(a.lower_m, b.lower_m),
        max(a.upper_m, b.upper_m),
        a.n_not_finite + b.n_not_finite,
        a.n_outside + b.n_outside
    );
}
