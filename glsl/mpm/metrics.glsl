// Metrics of all snow.
#define METRICS_RECORD MpmMetrics
#define METRICS_COLUMNS                  \
    SUM(float, mass_kg)                  \
    SUM(vec3, momentum_kg_m_s)           \
    SUM(vec3, angular_momentum_kg_m2_s)  \
    SUM(vec3, affine_momentum_kg_m2_s)   \
    SUM(float, kinetic_j)                \
    SUM(float, potential_j)              \
    SUM(float, elastic_j)                \
    SUM(float, density_sum_kg_m3)        \
    MINIMUM(vec3, lower_m)               \
    MINIMUM(float, plastic_volume_min)   \
    MAXIMUM(vec3, upper_m)               \
    MAXIMUM(float, plastic_volume_max)   \
    MAXIMUM(float, density_max_kg_m3)    \
    MAXIMUM(float, speed_max_m_s)        \
    COUNT(n_not_finite)                  \
    COUNT(n_outside)
#include "metrics/record.glsl"
