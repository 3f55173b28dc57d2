// What is measured of all snow, and how two parts' measures combine: as in pbd/metrics.glsl.
struct MpmMetrics {
    float mass_kg;
    vec3 momentum_kg_m_s;
    vec3 angular_momentum_kg_m2_s;
    float kinetic_j;
    float potential_j;
    float elastic_j;
    float speed_max_m_s;
    float density_sum_kg_m3;
    float density_max_kg_m3;
    float plastic_volume_min;
    float plastic_volume_max;
    vec3 lower_m;
    vec3 upper_m;
    uint n_not_finite;
    uint n_outside;
};

const float HUGE = 3.0e38;

MpmMetrics nothing() {
    return MpmMetrics(0.0, vec3(0.0), vec3(0.0), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, HUGE, -HUGE, vec3(HUGE), vec3(-HUGE), 0u, 0u);
}

MpmMetrics merge(MpmMetrics a, MpmMetrics b) {
    return MpmMetrics(
        a.mass_kg + b.mass_kg,
        a.momentum_kg_m_s + b.momentum_kg_m_s,
        a.angular_momentum_kg_m2_s + b.angular_momentum_kg_m2_s,
        a.kinetic_j + b.kinetic_j,
        a.potential_j + b.potential_j,
        a.elastic_j + b.elastic_j,
        max(a.speed_max_m_s, b.speed_max_m_s),
        a.density_sum_kg_m3 + b.density_sum_kg_m3,
        max(a.density_max_kg_m3, b.density_max_kg_m3),
        min(a.plastic_volume_min, b.plastic_volume_min),
        max(a.plastic_volume_max, b.plastic_volume_max),
        min(a.lower_m, b.lower_m),
        max(a.upper_m, b.upper_m),
        a.n_not_finite + b.n_not_finite,
        a.n_outside + b.n_outside
    );
}
