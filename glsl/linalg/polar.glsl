// Polar decompositions of 2×2 and 3×3 matrices, through the singular values and directly.
//
// Contract:
// - M = R S. R is a rotation (det +1), orthonormal to 1e−5.
// - S is symmetric to the last bit, and its eigenvalues are the singular values of M, the last with the sign
//   of det M; |M − R S| ≤ 1e−5 |M| in the Frobenius norm. So R is the rotation nearest to M, also if M is
//   singular or a reflection.
// - If the two smallest singular values cancel (σ₂ + σ₃ = 0, or σ₁ + σ₂ = 0 for 2×2), several rotations are
//   equally near, and R is one of them; another method may choose a different one.
// - The zero matrix gives R = I, S = 0; a matrix with an entry that is not finite gives NaN in every
//   component.
#ifndef LINALG_POLAR
#define LINALG_POLAR
#include "linalg/svd.glsl"

// Methods.
const uint POLAR_SVD = 0u;
const uint POLAR_DIRECT = 1u;

// Decomposes by R = U Vᵀ, S = V diag(σ) Vᵀ.
void polar2_svd(mat2 m, out mat2 r, out mat2 s) {
    mat2 u, v;
    vec2 sigma;
    svd2(m, u, sigma, v);
    precise mat2 rotation = u * transpose(v);
    precise mat2 stretch = mat2(sigma.x * v[0], sigma.y * v[1]) * transpose(v);
    r = rotation;
    s = symmetric(stretch);
}

void polar3_svd(mat3 m, out mat3 r, out mat3 s) {
    mat3 u, v;
    vec3 sigma;
    svd3(m, u, sigma, v);
    precise mat3 rotation = u * transpose(v);
    precise mat3 stretch = mat3(sigma.x * v[0], sigma.y * v[1], sigma.z * v[2]) * transpose(v);
    r = rotation;
    s = symmetric(stretch);
}

// Decomposes in closed form: R is the direction of M's rotational part (E, H), and S = Q I + Rᵀ [F G; G −F].
// It holds for every matrix.
void polar2(mat2 m, out mat2 r, out mat2 s) {
    uint magnitude = magnitude_bits(m);
    if (!is_finite(magnitude)) {
        float nan = not_a_number();
        r = mat2(nan, nan, nan, nan);
        s = r;
        return;
    }
    vec2 scale = unit_scale(magnitude);
    Parts2 parts = parts2(scale.x * m);
    vec3 p = unit2(parts.rotation);
    vec2 w = parts.reflection;
    precise float stretch = p.x * w.x + p.y * w.y;
    precise float shear = p.x * w.y - p.y * w.x;
    r = rotation2(p.xy);
    s = scale.y * mat2(p.z + stretch, shear, shear, p.z - stretch);
}

// Minimum of det M / |M|³ for Newton's iteration. It converges to R if det M > 0, to a reflection if det M <
// 0, and diverges if det M = 0. Below this value (the maximum is 0.19) its inverse loses too many digits.
const float NEWTON_DETERMINANT = 1e-4;
// Maximum number of steps; a million matrices took at most 5.
const uint NEWTON_STEPS = 8u;
// Squared size of a step, (3e−4)², below which it is the last: convergence is quadratic, so only rounding
// remains.
const float NEWTON_CLOSE_SQUARED = 1e-7;

float sum_of_squares(mat3 m) {
    precise float sum = dot(m[0], m[0]) + dot(m[1], m[1]) + dot(m[2], m[2]);
    return sum;
}

mat3 cofactors(mat3 m) {
    precise mat3 c = mat3(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1]));
    return c;
}

// Decomposes by scaled Newton iteration, X ← (γ X + X⁻ᵀ/γ)/2 with γ² = |X⁻¹|/|X| (Higham 1986, «Computing the
// polar decomposition»).
//
// Matrices with det M ≤ 1e−4 |M|³, which are reflections and nearly singular ones, go through the singular
// values instead, so that the contract holds for every matrix.
void polar3(mat3 m, out mat3 r, out mat3 s) {
    uint magnitude = magnitude_bits(m);
    vec2 scale = unit_scale(magnitude);
    mat3 a = scale.x * m;
    precise float size = sqrt(sum_of_squares(a));
    precise float determinant = dot(a[0], cross(a[1], a[2]));
    if (!is_finite(magnitude) || !(determinant > NEWTON_DETERMINANT * size * size * size)) {
        polar3_svd(m, r, s);
        return;
    }
    precise mat3 x = a;
    for (uint i = 0u; i < NEWTON_STEPS; ++i) {
        mat3 c = cofactors(x);
        precise float det_x = dot(x[0], c[0]);
        precise float gamma = sqrt(sqrt(sum_of_squares(c) / sum_of_squares(x)) / det_x);
        precise float other = 0.5 / (gamma * det_x);
        precise mat3 next = 0.5 * gamma * x + other * c;
        float moved = sum_of_squares(next - x);
        x = next;
        if (moved < NEWTON_CLOSE_SQUARED) break;
    }
    r = x;
    precise mat3 stretch = transpose(x) * a;
    s = scale.y * symmetric(stretch);
}

#endif
