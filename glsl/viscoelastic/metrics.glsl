// Metrics of a viscoelastic fluid; energies and momenta are per kg of a particle's mass.
#define METRICS_RECORD ViscoelasticMetrics
#define METRICS_COLUMNS                   \
    SUM(vec3, velocity_sum_m_s)           \
    SUM(vec3, angular_sum_m2_s)           \
    SUM(vec3, normal_stress_sum_pa)       \
    SUM(vec3, shear_stress_sum_pa)        \
    SUM(float, kinetic_j_kg)              \
    SUM(float, potential_j_kg)            \
    SUM(float, elastic_j_kg)              \
    SUM(float, density_sum_kg_m3)         \
    MINIMUM(vec3, lower_m)                \
    MAXIMUM(vec3, upper_m)                \
    MAXIMUM(float, density_max_kg_m3)     \
    MAXIMUM(float, speed_max_m_s)         \
    COUNT(n_not_finite)                   \
    COUNT(n_outside)                      \
    COUNT(n_spring_ends)
#include "metrics/record.glsl"
