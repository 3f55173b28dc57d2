#version 460
// Differentiates the stress of a particle along a velocity field u of the nodes: V⁰ δP F_Eᵀ with δF = (Σ u_i
// ∇wᵀ) F_E and
//   δP = 2μ (δF − δR) + λ (cof F : δF) cof F + λ (J − 1) δ(cof F),
// the second derivative of the energy (Breekveldt2017 eq 3.8) for the semi-implicit step (eq 3.25). In the
// axes of F = U Σ Vᵀ, with B = Uᵀ δF V, δR is U Ω Vᵀ, Ω_rc = (B_rc − B_cr)/(σ_r + σ_c).
//
// Bytes: 4 (5 + 2 D²) a particle, and the velocities of its nodes once per block if caches hold them.
// Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
layout(constant_id = 2) const uint STENCIL = 4;
layout(constant_id = 3) const uint AS_PRINTED = 0;
#include "mpm/splines.glsl"
#include "mpm/tensors.glsl"
#include "mpm/snow.glsl"
#include "mpm/solve.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer BlockOf { uint block_of[]; };
layout(scalar, binding = 3) readonly buffer Target { uint target[]; };
layout(scalar, binding = 4) readonly buffer Field { vec3 field[]; };
layout(scalar, binding = 5) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 6) readonly buffer Elastic { float elastic[]; };
layout(scalar, binding = 7) readonly buffer PlasticVolume { float plastic_volume[]; };
layout(scalar, binding = 8) readonly buffer Volume { float volume[]; };
layout(scalar, binding = 9) readonly buffer Solve { MpmSolve solve[]; };
layout(scalar, binding = 10) writeonly buffer Tangent { float tangent[]; };

mat3 cofactors_of(mat3 m) { return mat3(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])); }

void main() {
    uint i = thread_idx();
    if (i >= count[0] || solve[0].is_done != 0u) return;
    MpmTerms t = terms[0];
    vec3 xi = place_in_cells(t.lattice, position[i]);
    uvec3 base = base_of(t.lattice, xi);
    vec3 at = place_in_stencil(xi, base);
    uint reach = block_of[i] * BLOCK_REACH;
    mat3 gradient = mat3(0.0);
    [[dont_unroll]] for (uint z = 0u; z < STENCIL_Z; ++z) {
        vec2 along_z = third_weight(at, z);
        [[dont_unroll]] for (uint y = 0u; y < STENCIL; ++y) {
            vec2 along_y = axis_weight(at.y, y);
            [[dont_unroll]] for (uint k = 0u; k < STENCIL; ++k) {
                uint node = reach_node(base % BLOCK_SIDE, uvec3(k, y, z));
                uint block = target[reach + node / BLOCK_NODES];
                if (block == INVALID_INDEX) continue;
                vec4 w = node_weight(axis_weight(at.x, k), along_y, along_z);
                gradient += outer_product(field[block * BLOCK_NODES + node % BLOCK_NODES], w.xyz);
            }
        }
    }
    mat3 f = LOAD_MATRIX(elastic, i, 1.0);
    mat3 df = t.lattice.cells_per_m * gradient * f;
    Decomposed d = decompose(f);
    mat3 b = transpose(d.u) * df * d.v;
    mat3 omega = mat3(0.0);
    for (uint c = 0u; c < 3u; ++c)
        for (uint r = 0u; r < 3u; ++r) omega[c][r] = (b[c][r] - b[r][c]) / (d.sigma[r] + d.sigma[c]);
    mat3 dr = d.u * omega * transpose(d.v);
    mat3 cofactor = cofactors_of(f);
    float j = dot(f[0], cofactor[0]);
    float dj = dot(cofactor[0], df[0]) + dot(cofactor[1], df[1]) + dot(cofactor[2], df[2]);
    mat3 dcofactor = mat3(
        cross(df[1], f[2]) + cross(f[1], df[2]),
        cross(df[2], f[0]) + cross(f[2], df[0]),
        cross(df[0], f[1]) + cross(f[0], df[1])
    );
    mat3 dp = 2.0 * t.mu_pa * (df - dr) + t.lambda_pa * (dj * cofactor + (j - 1.0) * dcofactor);
    mat3 change = volume[i] * hardening_factor(t, plastic_volume[i]) * dp * transpose(f);
    STORE_MATRIX(tangent, i, change);
}
