#version 460
// Measures the fluid by tiles: each workgroup merges the particles of its tile. Energies are per kg of
// particle mass.
//
// Bytes: 28 a particle. Order-dependent sums in a fixed order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/metrics.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) readonly buffer Density { float density[]; };
layout(scalar, binding = 4) writeonly buffer Parts { FluidMetrics parts[]; };
layout(scalar, push_constant) uniform Params {
    vec3 domain_min_m;
    vec3 domain_max_m;
    vec3 gravity_m_s2;
};

#include "metrics/tile.glsl"

FluidMetrics measure_particle(uint i) {
    vec3 x = position[i];
    vec3 v = velocity[i];
    // A sum is finite only if every term is; NaN fails every comparison.
    float sum = dot(abs(x) + abs(v), vec3(1.0)) + abs(density[i]);
    FluidMetrics m = empty_record();
    if (!(sum < HUGE)) {
        m.n_not_finite = 1u;
        return m;
    }
    float speed2 = dot(v, v);
    m.velocity_sum_m_s = v;
    m.kinetic_j_kg = 0.5 * speed2;
    // Potential energy is relative to the domain's corner in the direction of gravity.
    vec3 bottom = mix(domain_min_m, domain_max_m, greaterThan(gravity_m_s2, vec3(0.0)));
    m.potential_j_kg = dot(gravity_m_s2, bottom - x);
    m.density_sum_kg_m3 = density[i];
    m.density_max_kg_m3 = density[i];
    m.speed_max_m_s = sqrt(speed2);
    m.lower_m = x;
    m.upper_m = x;
    m.n_outside = any(lessThan(x, domain_min_m)) || any(greaterThan(x, domain_max_m)) ? 1u : 0u;
    return m;
}

void main() {
    measure_tile();
}
