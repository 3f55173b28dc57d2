// Metrics of a whole fluid; energies and momentum are per kg of a particle's mass.
#define METRICS_RECORD FluidMetrics
#define METRICS_COLUMNS           \
    SUM(vec3, velocity_sum_m_s)   \
    SUM(float, kinetic_j_kg)      \
    SUM(float, potential_j_kg)    \
    SUM(float, density_sum_kg_m3) \
    MINIMUM(vec3, lower_m)        \
    MAXIMUM(vec3, upper_m)        \
    MAXIMUM(float, density_max_kg_m3) \
    MAXIMUM(float, speed_max_m_s) \
    COUNT(n_not_finite)           \
    COUNT(n_outside)
#include "metrics/record.glsl"
