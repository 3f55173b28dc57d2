#version 460
// Applies springs to velocities, u_i ← u_i + Δt/m Σ_j s k_ij (r − L) n, and adds their stress
// σ_i = 1/2V Σ_j s k_ij (r − L) r n nᵀ, with n = (x*_j − x*_i)/r.
//
// Both ends compute the same bits with opposite signs, along the line between them at the positions where the
// step ends: momentum and angular momentum x* × u are conserved. This is a leapfrog step, which neither gains
// nor loses energy as long as Δt²/m times any eigenvalue of the stiffness is below 4. The share s = min(1,
// B/max(b_i, b_j)), with the bounds b of bound_springs.comp, ensures that for any k and Δt: it leaves no
// particle with springs stiffer than B, and no eigenvalue of all springs above 2B.
//
// Bytes: 88 + 8 · degree a particle, 16 a partner. Sums run in the order of slots.
// Elements: stress = threads * 2.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"
#include "viscoelastic/springs.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 2) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 3) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 4) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 5) readonly buffer Bound { float bound_n_m[]; };
layout(scalar, binding = 6) buffer Updated { vec3 updated[]; };
// xx, yy, zz and xy, xz, yz.
layout(scalar, binding = 7) buffer Stress { vec3 stress[]; };
layout(scalar, push_constant) uniform Params {
    SpringTerms terms;
    // B in N/m, Δt/m in s/kg and 1/2V in 1/m³.
    float max_bound_n_m;
    float dt_per_mass;
    float half_per_volume;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 force_n = vec3(0.0);
    vec3 diagonal = vec3(0.0);
    vec3 off = vec3(0.0);
    float own_n_m = bound_n_m[i];
    FOR_EACH_BOND(terms.table, i, at) {
        uint j = partner[at];
        precise vec3 offset_m = predicted[j] - predicted[i];
        float length2_m2 = distance2_m2(predicted[i], predicted[j]);
        // Coincident ends have no direction for a force.
        if (!(length2_m2 > 0.0)) continue;
        float length_m = sqrt(length2_m2);
        float rest_m = rest_length_m[at];
        float stiffest_n_m = max(own_n_m, bound_n_m[j]);
        float share = stiffest_n_m > max_bound_n_m ? max_bound_n_m / stiffest_n_m : 1.0;
        precise float over_length = share * spring_stiffness(terms, rest_m) * (length_m - rest_m) / length_m;
        precise vec3 pull_n = over_length * offset_m;
        force_n += pull_n;
        diagonal += pull_n * offset_m;
        off += pull_n.xxy * offset_m.yzz;
    }
    updated[i] += dt_per_mass * force_n;
    stress[2u * i] += half_per_volume * diagonal;
    stress[2u * i + 1u] += half_per_volume * off;
}
