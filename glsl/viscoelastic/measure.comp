#version 460
// Measures a viscoelastic fluid by tiles: each workgroup merges the particles of its tile. Elastic energies
// are G/2ρ (tr(A − I) − ln det A) of a conformation and μ/ρ S:S of a strain; of a spring ½ k (1 − L/h)(r −
// L)², half at each end.
//
// Bytes: 76 a particle, with springs 80 + 8 · degree and 12 a partner. Order-dependent sums in a fixed order.
// Elements: stress = threads * 2.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "viscoelastic/terms.glsl"
#include "viscoelastic/metrics.glsl"
#include "bonds/bonds.glsl"
#include "viscoelastic/springs.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;
layout(constant_id = 2) const uint ELASTICITY = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) readonly buffer Density { float density[]; };
layout(scalar, binding = 4) readonly buffer Terms { ViscoelasticTerms terms[]; };
layout(scalar, binding = 5) readonly buffer Diagonal { vec3 diagonal[]; };
layout(scalar, binding = 6) readonly buffer OffDiagonal { vec3 off_diagonal[]; };
layout(scalar, binding = 7) readonly buffer Stress { vec3 stress[]; };
layout(scalar, binding = 8) writeonly buffer Parts { ViscoelasticMetrics parts[]; };
// Empty without springs.
layout(scalar, binding = 9) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 10) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 11) readonly buffer Degree { uint degree[]; };
layout(scalar, push_constant) uniform Params {
    vec3 gravity_m_s2;
    SpringTerms springs;
    float inverse_mass;
};

#include "metrics/tile.glsl"

// Returns the elastic energy over modulus and volume.
float energy_of(vec3 d, vec3 o) {
    if (ELASTICITY == NO_ELASTICITY) return 0.0;
    if (ELASTICITY == SPRINGS) return 0.0;
    float square = dot(d, d) + 2.0 * dot(o, o);
    if (ELASTICITY == STRAIN_TENSOR) return square;
    mat3 e = mat3(d.x, o.x, o.y, o.x, d.y, o.z, o.y, o.z, d.z);
    if (square < 1e-3) {
        // tr E − ln det(I + E) = tr E²/2 − tr E³/3 + …, without the cancellation.
        mat3 e2 = e * e;
        float cube = dot(e2[0], e[0]) + dot(e2[1], e[1]) + dot(e2[2], e[2]);
        return 0.5 * (0.5 * square - cube / 3.0);
    }
    return 0.5 * (d.x + d.y + d.z - log(max(determinant(mat3(1.0) + e), 1e-30)));
}

// Returns half the energy of a particle's springs in J/kg.
float spring_energy(uint i) {
    float sum_j = 0.0;
    FOR_EACH_BOND(springs.table, i, at) {
        float stretch_m = distance(position[i], position[partner[at]]) - rest_length_m[at];
        sum_j += 0.25 * spring_stiffness(springs, rest_length_m[at]) * stretch_m * stretch_m;
    }
    return sum_j * inverse_mass;
}

ViscoelasticMetrics measure_particle(uint i) {
    vec3 x = position[i];
    vec3 v = velocity[i];
    vec3 d = diagonal[i];
    vec3 o = off_diagonal[i];
    // A sum is finite only if every term is; NaN fails every comparison.
    float sum = dot(abs(x) + abs(v) + abs(d) + abs(o), vec3(1.0)) + abs(density[i]);
    ViscoelasticMetrics m = empty_record();
    if (!(sum < HUGE)) {
        m.n_not_finite = 1u;
        return m;
    }
    ViscoelasticTerms t = terms[0];
    float speed2 = dot(v, v);
    m.velocity_sum_m_s = v;
    m.angular_sum_m2_s = cross(x - 0.5 * (t.domain_min_m + t.domain_max_m), v);
    m.normal_stress_sum_pa = stress[2u * i];
    m.shear_stress_sum_pa = stress[2u * i + 1u];
    m.kinetic_j_kg = 0.5 * speed2;
    // Potential energy is relative to the domain's corner in the direction of gravity.
    vec3 bottom = mix(t.domain_min_m, t.domain_max_m, greaterThan(gravity_m_s2, vec3(0.0)));
    m.potential_j_kg = dot(gravity_m_s2, bottom - x);
    m.elastic_j_kg = t.modulus_pa / t.density_kg_m3 * energy_of(d, o);
    if (ELASTICITY == SPRINGS) {
        m.elastic_j_kg = spring_energy(i);
        m.n_spring_ends = degree[i];
    }
    m.density_sum_kg_m3 = density[i];
    m.density_max_kg_m3 = density[i];
    m.speed_max_m_s = sqrt(speed2);
    m.lower_m = x;
    m.upper_m = x;
    bvec3 is_bounded = equal(t.periodic & uvec3(1u, 2u, 4u), uvec3(0u));
    bvec3 is_out = bvec3(uvec3(lessThan(x, t.domain_min_m)) | uvec3(greaterThan(x, t.domain_max_m)));
    m.n_outside = any(bvec3(uvec3(is_out) & uvec3(is_bounded))) ? 1u : 0u;
    return m;
}

void main() {
    measure_tile();
}
