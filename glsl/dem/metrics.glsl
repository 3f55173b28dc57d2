// Metrics of all grains. Contacts and bonds between grains count at both their ends.
#define METRICS_RECORD DemMetrics
#define METRICS_COLUMNS                  \
    SUM(float, mass_kg)                  \
    SUM(vec3, momentum_kg_m_s)           \
    SUM(vec3, angular_momentum_kg_m2_s)  \
    SUM(float, kinetic_j)                \
    SUM(float, rotational_j)             \
    SUM(float, potential_j)              \
    SUM(vec3, moment_kg_m)               \
    MINIMUM(vec3, lower_m)               \
    MAXIMUM(vec3, upper_m)               \
    MAXIMUM(float, speed_max_m_s)        \
    COUNT(n_contacts)                    \
    COUNT(n_bonds)                       \
    COUNT(n_not_finite)                  \
    COUNT(n_outside)
#include "metrics/record.glsl"
