// Singular value decompositions of 2×2 and 3×3 matrices.
//
// Contract:
// - M = U diag(σ) Vᵀ. U and V are rotations (det +1), orthonormal to 1e−5; |M − U diag(σ) Vᵀ| ≤ 1e−5 |M| in
//   the Frobenius norm.
// - σ₁ ≥ σ₂ ≥ |σ₃| exactly (σ₁ ≥ |σ₂| for 2×2), and the last σ has the sign of det M. Errors of σ are
//   relative to |M|, not to each σ.
// - Any finite matrix is decomposed, regardless of scale and rank; the zero matrix gives U = V = I and σ = 0.
//   If σ are equal or 0, U and V are one choice of many.
// - A matrix with an entry that is not finite gives NaN in every component of U, σ and V. Entries and σ below
//   1.2e−38 count as 0 if the device flushes denormals.
//
// The cost is the same for every matrix: no branch depends on the speed of convergence.
#ifndef LINALG_SVD
#define LINALG_SVD
#include "linalg/matrix.glsl"

// Sum of a scaled rotation and a scaled reflection, M = [E −H; H E] + [F G; G −F].
struct Parts2 {
    vec2 rotation;   // (E, H)
    vec2 reflection; // (F, G)
};

Parts2 parts2(mat2 m) {
    return Parts2(0.5 * vec2(m[0][0] + m[1][1], m[0][1] - m[1][0]),
                  0.5 * vec2(m[0][0] - m[1][1], m[0][1] + m[1][0]));
}

// Decomposes in closed form: σ = Q ± R with Q = |(E, H)| and R = |(F, G)|; U rotates by half the sum and V by
// half the difference of the angles of (E, H) and (F, G) (Blinn 1996, «Consider the lowly 2×2 matrix»).
//
// The half angles come from half-angle formulas on unit vectors: a device's sin, cos and atan may have only
// eleven correct bits.
void svd2(mat2 m, out mat2 u, out vec2 sigma, out mat2 v) {
    uint magnitude = magnitude_bits(m);
    if (!is_finite(magnitude)) {
        float nan = not_a_number();
        u = mat2(nan, nan, nan, nan);
        sigma = vec2(nan);
        v = u;
        return;
    }
    vec2 scale = unit_scale(magnitude);
    Parts2 parts = parts2(scale.x * m);
    vec3 p = unit2(parts.rotation);
    vec3 w = unit2(parts.reflection);
    // cos and sin of angle(F, G) − angle(E, H), which is twice V's; if R = 0 any angle is valid.
    precise vec2 twice = vec2(p.x * w.x + p.y * w.y, p.x * w.y - p.y * w.x);
    if (w.z == 0.0) twice = vec2(1.0, 0.0);
    // The larger of cos and sin first: the other is then a quotient without cancellation.
    precise float larger = sqrt(0.5 + 0.5 * abs(twice.x));
    precise float smaller = 0.5 * abs(twice.y) / larger;
    vec2 half_angle = twice.x >= 0.0 ? vec2(larger, smaller) : vec2(smaller, larger);
    if (twice.y < 0.0) half_angle.y = -half_angle.y;
    vec2 turn_v = unit2(half_angle).xy;
    precise vec2 turn_u = vec2(p.x * turn_v.x - p.y * turn_v.y, p.x * turn_v.y + p.y * turn_v.x);
    u = rotation2(unit2(turn_u).xy);
    sigma = scale.y * vec2(p.z + w.z, p.z - w.z);
    v = rotation2(turn_v);
}

// Number of sweeps of 3 rotations. After 3 the maximum error over 3 million matrices is 3e−3 |M|, after 4 it
// is 6e−7 |M|, and a fifth or sixth changes nothing: convergence is quadratic.
const uint JACOBI_SWEEPS = 4u;

// Squared length, (1e−7 |M|)², below which the second column is rounding error without a direction.
const float NEGLIGIBLE_SQUARED = 1e-14;

// Rotates two columns of B, and the same of V, so that those of B are orthogonal and the first is the longer.
void orthogonalise(inout vec3 b_p, inout vec3 b_q, inout vec3 v_p, inout vec3 v_q) {
    // Keeping columns sorted makes them end sorted, and speeds up convergence. An exchange reflects V, which
    // its last column corrects.
    if (dot(b_p, b_p) < dot(b_q, b_q)) {
        vec3 b = b_p;
        vec3 v = v_p;
        b_p = b_q;
        v_p = v_q;
        b_q = b;
        v_q = v;
    }
    // tan 2θ = 2 b_p·b_q / (|b_p|² − |b_q|²), and θ is at most π/4.
    precise float difference = dot(b_p, b_p) - dot(b_q, b_q);
    precise float twice = 2.0 * dot(b_p, b_q);
    precise float denominator = difference + sqrt(difference * difference + twice * twice);
    precise float t = denominator > 0.0 ? twice / denominator : 0.0;
    precise float c = 1.0 / sqrt(1.0 + t * t);
    precise float s = t * c;
    precise vec3 b = c * b_p + s * b_q;
    precise vec3 v = c * v_p + s * v_q;
    precise vec3 b_other = c * b_q - s * b_p;
    precise vec3 v_other = c * v_q - s * v_p;
    b_p = b;
    v_p = v;
    b_q = b_other;
    v_q = v_other;
}

// Decomposes by one-sided Jacobi (Hestenes 1958, «Inversion of matrices by biorthogonalization»): rotations
// from the right make the columns of B = M V orthogonal, then B = U diag(σ). Since MᵀM is never formed,
// singular values below √ε |M| survive.
//
// U is built from M V by orthogonalising its columns against the longer ones and completing it by a cross
// product: it is a rotation for every rank, and the sign of the last column's length is the sign of det M.
void svd3(mat3 m, out mat3 u, out vec3 sigma, out mat3 v) {
    uint magnitude = magnitude_bits(m);
    if (!is_finite(magnitude)) {
        sigma = vec3(not_a_number());
        u = mat3(sigma, sigma, sigma);
        v = u;
        return;
    }
    vec2 scale = unit_scale(magnitude);
    mat3 a = scale.x * m;
    vec3 b0 = a[0], b1 = a[1], b2 = a[2];
    vec3 v0 = vec3(1.0, 0.0, 0.0), v1 = vec3(0.0, 1.0, 0.0), v2 = vec3(0.0, 0.0, 1.0);
    for (uint sweep = 0u; sweep < JACOBI_SWEEPS; ++sweep) {
        orthogonalise(b0, b1, v0, v1);
        orthogonalise(b0, b2, v0, v2);
        orthogonalise(b1, b2, v1, v2);
    }
    // V is normalised after the roundings of twelve rotations, and M V is recomputed, so that they do not
    // remain in U and σ either.
    v0 = unit3(v0);
    precise vec3 v1_rest = v1 - dot(v0, v1) * v0;
    v1 = unit3(v1_rest);
    precise vec3 v2_last = cross(v0, v1);
    v = mat3(v0, v1, v2_last);
    precise mat3 b = a * v;

    precise float sigma0 = sqrt(dot(b[0], b[0]));
    precise vec3 direction = b[0] / sigma0;
    vec3 u0 = sigma0 > 0.0 ? direction : vec3(1.0, 0.0, 0.0);
    precise vec3 rest = b[1] - dot(u0, b[1]) * u0;
    vec3 u1 = dot(rest, rest) > NEGLIGIBLE_SQUARED * sigma0 * sigma0 ? unit3(rest) : perpendicular(u0);
    precise vec3 u2 = cross(u0, u1);
    u = mat3(u0, u1, u2);
    // Rounding may reverse the order of equal values.
    precise float sigma1 = clamp(dot(u1, b[1]), 0.0, sigma0);
    precise float sigma2 = clamp(dot(u2, b[2]), -sigma1, sigma1);
    sigma = scale.y * vec3(sigma0, sigma1, sigma2);
}

#endif
