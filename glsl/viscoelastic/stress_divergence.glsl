// Divergence of stress at a particle, for a velocity field v:
//   a_i = 1/(ρ m₀ h) Σ_j w [ (Q_i + Q_j) x̂_ij + (η_i + η_j)(v_j − v_i)/h ]
// It is minus the derivative of the power Σ V (σ:L + …) by v_i: for Q = σ B the adjoint of the gradient, so
// that pairs exchange momentum and, since M is symmetric and B its inverse, angular momentum, too
// (Bonet1999). The parts in η act on the part of v_j − v_i that gradients do not explain (Ganzenmueller2015),
// which nothing else would damp; linear fields have none. An image contributes S Q_j R with the signs of its
// velocity S and of its position R.
//
// Here η is the share of the gradient that counts times the viscosity and that of unresolved motion.
//
// The kernel declares the buffers of the neighbours, terms, coupling and field, and wall_speed_m_s. The
// coupling is the columns of Q in three vec4, and η in the last component of the first.

struct Sums {
    vec3 force;
    vec3 velocity;
    mat3 coupling;
    float viscosity_pa_s;
    float support_m;
};

void add_neighbour(inout Sums sums, uint j, vec3 offset, float q, uvec3 sides) {
    vec3 v = field[j];
    vec4 first = coupling[3u * j];
    mat3 other = mat3(first.xyz, coupling[3u * j + 1u].xyz, coupling[3u * j + 2u].xyz);
    if (sides != uvec3(0u)) {
        ImageSigns signs = signs_of(terms[0], sides);
        float sign = signs.velocity.x;
        v *= sign;
        v.x -= 2.0 * sign * (is_wall_y(terms[0], sides) ? face_velocity(sides, wall_speed_m_s) : 0.0);
        vec3 columns = sign * signs.position;
        other = mat3(columns.x * other[0], columns.y * other[1], columns.z * other[2]);
    }
    if (AS_PRINTED != 0u) other = mat3(0.0);
    float viscosity_pa_s = sums.viscosity_pa_s + first.w;
    vec3 of_pair = (sums.coupling + other) * offset + viscosity_pa_s / sums.support_m * (v - sums.velocity);
    sums.force += pair_weight(q) * of_pair;
}

#include "viscoelastic/image.glsl"

// Returns Δt a in m/s.
vec3 impulse_of_stress(uint i) {
    vec3 x = predicted[i];
    vec4 first = coupling[3u * i];
    mat3 own = mat3(first.xyz, coupling[3u * i + 1u].xyz, coupling[3u * i + 2u].xyz);
    Sums sums = Sums(vec3(0.0), field[i], own, first.w, terms[0].support_m);
    VISIT_NEIGHBOURS(terms[0], i, x, sums)
    ViscoelasticTerms t = terms[0];
    return t.dt_s / (t.density_kg_m3 * t.lattice_moment * t.support_m) * sums.force;
}
