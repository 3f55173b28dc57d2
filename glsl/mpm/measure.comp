#version 460
// Measures snow by tiles: each workgroup merges the particles of its tile. Energies are kinetic ½ m v²,
// elastic V⁰ Ψ (Breekveldt2017 eq 3.8) and potential; the angular momentum, about the origin, is Σ m x × v
// and, apart, that of affine velocities, Σ m D (C − Cᵀ).
//
// Bytes: 4 (9 + D²) a particle, with C 4 D² more. Order-dependent sums in a fixed order.
// Elements: elastic = threads * DIMENSIONS * DIMENSIONS, affine = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;
layout(constant_id = 2) const uint DIMENSIONS = 3;
layout(constant_id = 3) const uint STENCIL = 4;
layout(constant_id = 4) const uint TRANSFER = 0;
#include "mpm/tensors.glsl"
#include "mpm/snow.glsl"
#include "mpm/metrics.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) readonly buffer Mass { float mass[]; };
layout(scalar, binding = 5) readonly buffer Volume { float volume[]; };
layout(scalar, binding = 6) readonly buffer PlasticVolume { float plastic_volume[]; };
layout(scalar, binding = 7) readonly buffer Elastic { float elastic[]; };
layout(scalar, binding = 8) readonly buffer Affine { float affine[]; };
layout(scalar, binding = 9) writeonly buffer Parts { MpmMetrics parts[]; };

#include "metrics/tile.glsl"

MpmTerms t;

MpmMetrics measure_particle(uint i) {
    vec3 x = position[i];
    vec3 v = velocity[i];
    mat3 f = LOAD_MATRIX(elastic, i, 1.0);
    MpmMetrics m = empty_record();
    // A sum is finite only if every term is; NaN fails every comparison.
    float all_of_it =
        dot(abs(x) + abs(v) + abs(f[0]) + abs(f[1]) + abs(f[2]), vec3(1.0)) + abs(plastic_volume[i]);
    if (!(all_of_it < HUGE)) {
        m.n_not_finite = 1u;
        return m;
    }
    Decomposed d = decompose(f);
    float own_mass = mass[i];
    float speed2 = dot(v, v);
    m.mass_kg = own_mass;
    m.momentum_kg_m_s = own_mass * v;
    m.angular_momentum_kg_m2_s = own_mass * cross(x, v);
    if (TRANSFER != 0u) {
        mat3 c = LOAD_MATRIX(affine, i, 0.0);
        float inertia = t.cell_m * t.cell_m / float(7u - STENCIL);
        m.affine_momentum_kg_m2_s =
            own_mass * inertia * vec3(c[1][2] - c[2][1], c[2][0] - c[0][2], c[0][1] - c[1][0]);
    }
    m.kinetic_j = 0.5 * own_mass * speed2;
    // Potential energy is relative to the domain's corner in the direction of gravity.
    vec3 bottom = mix(t.domain_min_m, t.domain_max_m, greaterThan(t.gravity_m_s2, vec3(0.0)));
    m.potential_j = own_mass * dot(t.gravity_m_s2, bottom - x);
    m.elastic_j = volume[i] * elastic_energy(t, d.sigma, plastic_volume[i]);
    float density = own_mass / (volume[i] * d.sigma.x * d.sigma.y * d.sigma.z * plastic_volume[i]);
    m.density_sum_kg_m3 = density;
    m.density_max_kg_m3 = density;
    m.plastic_volume_min = plastic_volume[i];
    m.plastic_volume_max = plastic_volume[i];
    m.speed_max_m_s = sqrt(speed2);
    m.lower_m = x;
    m.upper_m = x;
    m.n_outside = any(lessThan(x, t.domain_min_m)) || any(greaterThan(x, t.domain_max_m)) ? 1u : 0u;
    return m;
}

void main() {
    t = terms[0];
    measure_tile();
}
