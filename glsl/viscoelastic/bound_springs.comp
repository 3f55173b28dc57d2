#version 460
// Bounds the stiffness of a particle's springs: the largest sum of a row of |Σ_j k_ij n nᵀ| in N/m, n =
// x_ij/|x_ij|, which is at least the largest eigenvalue of the sum (Gershgorin).
//
// Bytes: 20 + 8 · degree a particle, 12 a partner. Sums run in the order of slots.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"
#include "viscoelastic/springs.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 2) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 3) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 4) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 5) writeonly buffer Bound { float bound_n_m[]; };
layout(scalar, push_constant) uniform Params { SpringTerms terms; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 diagonal = vec3(0.0);
    // xy, xz, yz.
    vec3 off = vec3(0.0);
    FOR_EACH_BOND(terms.table, i, at) {
        vec3 offset_m = predicted[partner[at]] - predicted[i];
        float length2_m2 = dot(offset_m, offset_m);
        if (!(length2_m2 > 0.0)) continue;
        vec3 scaled = spring_stiffness(terms, rest_length_m[at]) / length2_m2 * offset_m;
        diagonal += scaled * offset_m;
        off += scaled.xxy * offset_m.yzz;
    }
    vec3 rows = diagonal + abs(off.xxy) + abs(off.yzz);
    bound_n_m[i] = max(rows.x, max(rows.y, rows.z));
}
