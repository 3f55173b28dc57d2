// Divergence of stress at a particle, for a velocity field v:
//   a_i = 1/(ρ m₀ h) Σ_j w [ (Q_i + Q_j) x̂_ij + (η_i + η_j)(v_j − v_i)/h ]
// It is minus the derivative of the power Σ V (σ:L + …) by v_i: for Q = σ B the adjoint of the gradient, so that
// pairs exchange momentum and, since M is symmetric and B its inverse, angular momentum, too (Bonet1999). The
// parts in η act on the part of v_j − v_i that gradients do not explain (Ganzenmueller2015), which nothing else
// would damp; linear fields have none. An image contributes S Q_j R with the signs of its velocity S and of its
// position R.
//
// The kernel declares the buffers of the neighbours, terms, shape, coupling and field, and wall_speed_m_s.

struct Sums {
    vec3 force;
    vec3 velocity;
    mat3 coupling;
    float viscosity;
};

void add_neighbour(inout Sums sums, uint j, vec3 offset, float q, uvec3 sides) {
    vec3 v = field[j];
    mat3 other = mat3(coupling[3u * j], coupling[3u * j + 1u], coupling[3u * j + 2u]);
    if (sides != uvec3(0u)) {
        ImageSigns signs = signs_of(terms[0], sides);
        float sign = signs.velocity.x;
        v *= sign;
        v.x -= 2.0 * sign * (is_wall_y(terms[0], sides) ? face_velocity(sides, wall_speed_m_s) : 0.0);
        vec3 columns = sign * signs.position;
        other = mat3(columns.x * other[0], columns.y * other[1], columns.z * other[2]);
    }
    if (AS_PRINTED != 0u) other = mat3(0.0);
    vec4 rest = shape[2u * j + 1u];
    float viscosity = sums.viscosity + rest.z * (rest.w + terms[0].unresolved_pa_s);
    vec3 of_pair = (sums.coupling + other) * offset + viscosity / terms[0].support_m * (v - sums.velocity);
    sums.force += pair_weight(q) * of_pair;
}

#include "viscoelastic/image.glsl"

// Returns Δt a in m/s.
vec3 impulse_of_stress(uint i) {
    ViscoelasticTerms t = terms[0];
    vec3 x = predicted[i];
    vec4 rest = shape[2u * i + 1u];
    mat3 own = mat3(coupling[3u * i], coupling[3u * i + 1u], coupling[3u * i + 2u]);
    Sums sums = Sums(vec3(0.0), field[i], own, rest.z * (rest.w + t.unresolved_pa_s));
    VISIT_NEIGHBOURS(t, i, x, sums)
    return t.dt_s / (t.density_kg_m3 * t.lattice_moment * t.support_m) * sums.force;
}
