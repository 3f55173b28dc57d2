#version 460
// Measures grains by tiles: each workgroup merges the grains of its tile. Energies are kinetic ½ m v²,
// rotational ½ I ω² and potential; the angular momentum, about the origin, is Σ m x × v + I ω.
//
// Bytes: 44 a grain, 4 a row of contacts. Order-dependent sums in a fixed order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;
layout(constant_id = 2) const uint HAS_ROLLING = 1;
#include "dem/terms.glsl"
#include "dem/contact_rows.glsl"
#include "dem/metrics.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) readonly buffer Spin { vec3 spin[]; };
layout(scalar, binding = 5) readonly buffer Radius { float radius[]; };
layout(scalar, binding = 6) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 7) readonly buffer Contact { uint contact[]; };
layout(scalar, binding = 8) writeonly buffer Parts { DemMetrics parts[]; };

#include "metrics/tile.glsl"

DemTerms t;

DemMetrics measure_particle(uint i) {
    vec3 x = position[i];
    vec3 v = velocity[i];
    vec3 w = spin[i];
    DemMetrics m = empty_record();
    // A sum is finite only if every term is; NaN fails every comparison.
    if (!(dot(abs(x) + abs(v) + abs(w), vec3(1.0)) < HUGE)) {
        m.n_not_finite = 1u;
        return m;
    }
    float own_mass = mass_of(t, radius[i]);
    float inertia = BALL_INERTIA * own_mass * radius[i] * radius[i];
    float speed2 = dot(v, v);
    m.mass_kg = own_mass;
    m.momentum_kg_m_s = own_mass * v;
    m.angular_momentum_kg_m2_s = own_mass * cross(x, v) + inertia * w;
    m.kinetic_j = 0.5 * own_mass * speed2;
    m.rotational_j = 0.5 * inertia * dot(w, w);
    // Potential energy is relative to the domain's corner in the direction of gravity.
    vec3 bottom = mix(t.domain_min_m, t.domain_max_m, greaterThan(t.gravity_m_s2, vec3(0.0)));
    m.potential_j = own_mass * dot(t.gravity_m_s2, bottom - x);
    m.speed_max_m_s = sqrt(speed2);
    m.lower_m = x;
    m.upper_m = x;
    m.moment_kg_m = own_mass * x;
    [[dont_unroll]] for (uint row = first_row[i]; row < first_row[i + 1u]; ++row) {
        m.n_contacts += contact[CONTACT_WORDS * row] == INVALID_INDEX ? 0u : 1u;
        m.n_bonds += bond_state_of(contact[CONTACT_WORDS * row]);
    }
    m.n_outside = any(lessThan(x, t.domain_min_m)) || any(greaterThan(x, t.domain_max_m)) ? 1u : 0u;
    return m;
}

void main() {
    t = terms[0];
    measure_tile();
}
