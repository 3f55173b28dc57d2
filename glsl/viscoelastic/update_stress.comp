#version 460
// Computes the velocity gradient of the displacement of this step, and from it conformation or strain,
// viscosity and stress of each particle.
//
//   M_i = Σ_j w x̂_ij x̂_ijᵀ / m₀,  B_i = M_i⁻¹                                   moment matrix, the identity on the lattice
//   L_i = Σ_j w (u_j − u_i) x̂_ijᵀ B_i / (m₀ h),  x̂_ij = (x*_j − x*_i)/h          exact for linear fields (Bonet1999)
//   F_i = (I − Δt L_i)⁻¹                                                          deformation of the step
//   conformation:   A ← F A Fᵀ, between two half steps of dA/dt = −(A − I)/λ      τ = G (A − I)
//   strain tensor:  S ← R (S + U − I) Rᵀ with F = R U, then decay                 τ = 2 μ S
//   σ = τ + 2 η(γ̇) D + ζ tr(D) I,  D = (L + Lᵀ)/2
//
// Since x*_j − x*_i are the offsets at the end of the step and u its displacements over Δt, F is exact for
// any affine motion: a rigid rotation by any angle leaves τ as it is but for the rotation. With a yield
// stress the relaxation is multiplied by max(0, 1 − τ_y/|τ_d|) (Saramito2007), |τ_d|² = τ_d:τ_d/2; without a
// relaxation time the deviator of τ is cut off at τ_y. The deviator S′ of a strain beyond γ decays to it at
// the rate α (Huang2016 eq 2.26).
//
// Writes B and η, and Q = σ B − η L with its η for the force (stress_divergence.glsl). Where viscosity is
// solved implicitly, Q is that of elasticity alone; before the solve, the same kernel computes B, η and the
// viscous stress with the offsets at the start of the step. Where neighbours do not span space, so that the
// harmonic mean of the eigenvalues of M is below 0.06, there is no gradient and memory is lost; between that
// and 0.14 the share of the stress rises. It is 1 inside, about 0.5 at a flat surface, 0.25 at a corner, and
// 0 in a sheet or a thread of single particles.
//
// Writes the displacement of particle shifting (shifting.glsl), too, at the start of the step if viscosity
// is solved implicitly.
//
// Bytes: 224 a particle plus rows and neighbours from cache. Sums run in sorted order.
// Elements: shape = threads * 2, coupling = threads * 3, stress = threads * 2, faulty = 0.
// Elements: body_walls = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "viscoelastic/terms.glsl"
#include "pbd/fault.glsl"
#include "viscoelastic/neighbours.glsl"
#include "viscoelastic/shape.glsl"
#include "linalg/polar.glsl"
#include "viscoelastic/shifting.glsl"

layout(constant_id = 1) const uint ELASTICITY = 0;
// 1 if viscosity is solved implicitly: the coupling is then that of elasticity alone.
layout(constant_id = 2) const uint IS_IMPLICIT = 0;
// 1 if temperature shifts viscosity, 2 if relaxation, too.
layout(constant_id = 3) const uint SHIFTS = 0;
// 1 if the positions are those of the start of the step.
layout(constant_id = 4) const uint IS_AT_START = 0;
// 1 if bodies complete the neighbourhoods (body_walls.glsl).
layout(constant_id = 5) const uint HAS_BODIES = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 5) readonly buffer Rows { uint rows[]; };
layout(scalar, binding = 6) readonly buffer Terms { ViscoelasticTerms terms[]; };
// xx, yy, zz and xy, xz, yz of A − I, or of S.
layout(scalar, binding = 7) buffer Diagonal { vec3 diagonal[]; };
layout(scalar, binding = 8) buffer OffDiagonal { vec3 off_diagonal[]; };
// Where temperature shifts viscosity, the factor is in the place of the viscosity before
// (shift_viscosity.comp).
layout(scalar, binding = 9) buffer Shape { vec4 shape[]; };
layout(scalar, binding = 10) writeonly buffer Coupling { vec4 coupling[]; };
layout(scalar, binding = 11) writeonly buffer Stress { vec3 stress[]; };
// Lowest index of a particle with each kind of fault.
layout(scalar, binding = 12) buffer Faulty { uint faulty[]; };
layout(scalar, binding = 13) writeonly buffer Shift { vec3 shift[]; };
layout(scalar, binding = 14) readonly buffer BodyWalls { vec4 body_walls[]; };
layout(scalar, push_constant) uniform Params {
    // Speed of the sheared faces along x.
    float wall_speed_m_s;
    float max_travel_m;
};

struct Sums {
    vec3 moment_diagonal;
    vec3 moment_off;
    mat3 gradient;
    vec3 velocity;
    // Σ w x̂.
    vec3 first_moment;
};

void add_neighbour(inout Sums sums, uint j, vec3 offset, float q, uvec3 sides) {
    float w = pair_weight(q);
    vec3 v = updated[j];
    if (sides != uvec3(0u)) {
        float sign = signs_of(terms[0], sides).velocity.x;
        v *= sign;
        v.x -= 2.0 * sign * (is_wall_y(terms[0], sides) ? face_velocity(sides, wall_speed_m_s) : 0.0);
    }
    vec3 weighted = w * offset;
    sums.first_moment += weighted;
    sums.moment_diagonal += weighted * offset;
    sums.moment_off += weighted.xxy * offset.yzz;
    sums.gradient += outerProduct(v - sums.velocity, weighted);
}

#include "viscoelastic/image.glsl"
#include "viscoelastic/summed_walls.glsl"

mat3 symmetric_matrix(vec3 d, vec3 o) { return mat3(d.x, o.x, o.y, o.x, d.y, o.z, o.y, o.z, d.z); }

float norm_squared(mat3 m) { return dot(m[0], m[0]) + dot(m[1], m[1]) + dot(m[2], m[2]); }

mat3 deviator(mat3 m) { return m - mat3((m[0][0] + m[1][1] + m[2][2]) / 3.0); }

// Relaxes A − I over a part of a step.
mat3 relaxed(ViscoelasticTerms t, mat3 strain, float duration_s) {
    if (t.relaxation_per_s == 0.0) return strain;
    float share = 1.0;
    if (t.yield_stress_pa >= 0.0) {
        float size = t.modulus_pa * sqrt(0.5 * norm_squared(deviator(strain)));
        share = size > t.yield_stress_pa ? 1.0 - t.yield_stress_pa / size : 0.0;
    }
    return strain * exp(-share * duration_s * t.relaxation_per_s);
}

mat3 advance_conformation(ViscoelasticTerms t, mat3 strain, mat3 f) {
    strain = relaxed(t, strain, 0.5 * t.dt_s);
    // F A Fᵀ − I in terms of A − I, without the loss of digits of A near I.
    mat3 change = f - mat3(1.0);
    strain = f * strain * transpose(f) + change + transpose(change) + change * transpose(change);
    strain = relaxed(t, strain, 0.5 * t.dt_s);
    if (t.relaxation_per_s == 0.0 && t.yield_stress_pa >= 0.0) {
        mat3 part = deviator(strain);
        float size = t.modulus_pa * sqrt(0.5 * norm_squared(part));
        if (size > t.yield_stress_pa) strain -= (1.0 - t.yield_stress_pa / size) * part;
    }
    return symmetric(strain);
}

mat3 advance_strain(ViscoelasticTerms t, mat3 strain, mat3 f) {
    mat3 r, u;
    polar3(f, r, u);
    strain = r * (strain + u - mat3(1.0)) * transpose(r);
    mat3 part = deviator(strain);
    float size = sqrt(norm_squared(part));
    if (size > t.yield_strain) {
        float kept = t.yield_strain + (size - t.yield_strain) * exp(-t.decay_per_s * t.dt_s);
        strain -= (1.0 - kept / size) * part;
    }
    return symmetric(strain);
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    Sums sums = Sums(vec3(0.0), vec3(0.0), mat3(0.0), updated[i], vec3(0.0));
    VISIT_NEIGHBOURS(terms[0], i, x, sums)
    ViscoelasticTerms t = terms[0];

    mat3 moment = symmetric_matrix(sums.moment_diagonal, sums.moment_off) / t.lattice_moment;
    float scale = t.lattice_moment * t.support_m;
    if (HAS_BODIES != 0u) {
        vec4 of_bodies = body_walls[BODY_WALL_VECTORS * i + 4u];
        moment += symmetric_matrix(of_bodies.xyz, vec3(of_bodies.w, body_walls[BODY_WALL_VECTORS * i + 5u].xy));
        sums.gradient += scale * gradient_at_walls(i, sums.velocity, true);
    }
    mat3 inverse_moment = symmetric(inverse(moment));
    float mean = 3.0 / (inverse_moment[0][0] + inverse_moment[1][1] + inverse_moment[2][2]);
    // The inverse of a matrix that is singular but for rounding is rounding, too.
    float size = (moment[0][0] + moment[1][1] + moment[2][2]) / 3.0;
    bool is_regular = determinant(moment) > 1e-5 * size * size * size;
    float share = is_regular && mean > 0.06 ? min((mean - 0.06) / 0.08, 1.0) : 0.0;
    if (share == 0.0) inverse_moment = mat3(0.0);
    mat3 gradient = sums.gradient * inverse_moment / scale;
    mat3 twice_rate = gradient + transpose(gradient);
    float viscosity = viscosity_at(t, sqrt(0.5 * norm_squared(twice_rate)));
    float slowing = SHIFTS == 0u ? 1.0 : shape[2u * i + 1u].w;
    if (SHIFTS != 0u) viscosity *= slowing;
    if (SHIFTS == 2u) t.relaxation_per_s /= slowing;

    // Of the deformation itself, where the gradient is that at the start.
    mat3 inverse_deformation = mat3(1.0) + (IS_AT_START != 0u ? t.dt_s : -t.dt_s) * gradient;
    float shrinkage = determinant(inverse_deformation);
    float travel_m = t.dt_s * sqrt(dot(sums.velocity, sums.velocity));
    // Not a number fails every comparison.
    if (!(shrinkage > 0.05) || !(travel_m < max_travel_m)) atomicMin(faulty[fault_slot(FAULT_INVERTED, 0u)], i);

    // Once a step: where viscosity is solved implicitly, at its start.
    if (t.shifting > 0.0 && IS_AT_START == IS_IMPLICIT) {
        vec3 balance = -sums.first_moment / t.lattice_moment;
        shift[i] = share * shift_along_stretch(t, moment, inverse_moment, twice_rate, balance);
    }

    mat3 elastic_stress = mat3(0.0);
    if (ELASTICITY != NO_ELASTICITY) {
        mat3 strain = mat3(0.0);
        if (share > 0.0 && shrinkage > 0.05) {
            strain = symmetric_matrix(diagonal[i], off_diagonal[i]);
            mat3 f = inverse(inverse_deformation);
            if (ELASTICITY == CONFORMATION) strain = advance_conformation(t, strain, f);
            if (ELASTICITY == STRAIN_TENSOR) strain = advance_strain(t, strain, f);
        }
        diagonal[i] = vec3(strain[0][0], strain[1][1], strain[2][2]);
        off_diagonal[i] = vec3(strain[0][1], strain[0][2], strain[1][2]);
        elastic_stress = t.modulus_pa * strain;
        if (ELASTICITY == STRAIN_TENSOR) elastic_stress *= 2.0;
    }
    Neighbourhood n = Neighbourhood(inverse_moment, share, viscosity);
    shape[2u * i] = vec4(inverse_moment[0][0], inverse_moment[1][1], inverse_moment[2][2], inverse_moment[0][1]);
    shape[2u * i + 1u] = vec4(inverse_moment[0][2], inverse_moment[1][2], share, viscosity);
    mat3 of_elasticity = share * elastic_stress * inverse_moment;
    if (IS_IMPLICIT != 0u) {
        [[unroll]] for (uint c = 0u; c < 3u; ++c) coupling[3u * i + c] = vec4(of_elasticity[c], 0.0);
    } else {
        mat3 all = of_elasticity + viscous_coupling(n, gradient, t.bulk_ratio, t.unresolved_pa_s);
        float unexplained_pa_s = unexplained_viscosity(n, t.unresolved_pa_s);
        [[unroll]] for (uint c = 0u; c < 3u; ++c) coupling[3u * i + c] = vec4(all[c], unexplained_pa_s);
    }
    mat3 total = share * (elastic_stress + viscosity * stressing_rate(gradient, t.bulk_ratio));
    stress[2u * i] = vec3(total[0][0], total[1][1], total[2][2]);
    stress[2u * i + 1u] = vec3(total[0][1], total[0][2], total[1][2]);
}
