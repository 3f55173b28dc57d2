// What is measured of all grains, and how two parts' measures combine: as in pbd/metrics.glsl.
struct DemMetrics {
    float mass_kg;
    vec3 momentum_kg_m_s;
    vec3 angular_momentum_kg_m2_s;
    float kinetic_j;
    float rotational_j;
    float potential_j;
    float speed_max_m_s;
    vec3 lower_m;
    vec3 upper_m;
    // Σ m x, and Σ contacts and bonds over grains: each between grains counts at both its ends.
    vec3 moment_kg_m;
    uint n_contacts;
    uint n_bonds;
    uint n_not_finite;
    uint n_outside;
};

const float HUGE = 3.0e38;

DemMetrics nothing() {
    return DemMetrics(0.0, vec3(0.0), vec3(0.0), 0.0, 0.0, 0.0, 0.0, vec3(HUGE), vec3(-HUGE), vec3(0.0), 0u, 0u, 0u, 0u);
}

DemMetrics merge(DemMetrics a, DemMetrics b) {
    return DemMetrics(
        a.mass_kg + b.mass_kg,
        a.momentum_kg_m_s + b.momentum_kg_m_s,
        a.angular_momentum_kg_m2_s + b.angular_momentum_kg_m2_s,
        a.kinetic_j + b.kinetic_j,
        a.rotational_j + b.rotational_j,
        a.potential_j + b.potential_j,
        max(a.speed_max_m_s, b.speed_max_m_s),
        min(a.lower_m, b.lower_m),
        max(a.upper_m, b.upper_m),
        a.moment_kg_m + b.moment_kg_m,
        a.n_contacts + b.n_contacts,
        a.n_bonds + b.n_bonds,
        a.n_not_finite + b.n_not_finite,
        a.n_outside + b.n_outside
    );
}
