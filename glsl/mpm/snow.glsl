// Constitutive model of snow: fixed-corotated elasticity (Breekveldt2017 eq 3.8) with hardening (eq 3.9) and
// bounded singular values (eq 3.30).
#ifndef MPM_SNOW
#define MPM_SNOW
#include "linalg/svd.glsl"
#include "mpm/tensors.glsl"
#include "mpm/terms.glsl"

struct Decomposed {
    mat3 u;
    vec3 sigma;
    mat3 v;
};

Decomposed decompose(mat3 f) {
    Decomposed d;
    if (DIMENSIONS == 3u) {
        svd3(f, d.u, d.sigma, d.v);
        return d;
    }
    mat2 u, v;
    vec2 sigma;
    svd2(mat2(f), u, sigma, v);
    d.u = mat3(vec3(u[0], 0.0), vec3(u[1], 0.0), vec3(0.0, 0.0, 1.0));
    d.v = mat3(vec3(v[0], 0.0), vec3(v[1], 0.0), vec3(0.0, 0.0, 1.0));
    d.sigma = vec3(sigma, 1.0);
    return d;
}

mat3 times_diagonal(mat3 m, vec3 d) { return mat3(m[0] * d.x, m[1] * d.y, m[2] * d.z); }

// Returns the factor on the Lamé parameters: exp(ξ (1 − J_P)).
float hardening_factor(MpmTerms terms, float plastic_volume) {
    if (terms.is_plastic == 0u) return 1.0;
    return exp(terms.hardening * (1.0 - max(plastic_volume, terms.min_plastic_volume)));
}

// Returns V⁰ τ, the Kirchhoff stress 2μ (F_E − R_E) F_Eᵀ + λ (J_E − 1) J_E I (Breekveldt2017 eq 3.23) times
// the volume: in the axes of U it is diagonal.
mat3 kirchhoff(MpmTerms terms, Decomposed f, float plastic_volume, float volume) {
    float gain = volume * hardening_factor(terms, plastic_volume);
    float j = f.sigma.x * f.sigma.y * f.sigma.z;
    vec3 principal = gain * (2.0 * terms.mu_pa * (f.sigma - 1.0) * f.sigma + terms.lambda_pa * (j - 1.0) * j);
    return times(times_diagonal(f.u, principal), transpose(f.u));
}

// Returns Ψ in J/m³ (Breekveldt2017 eq 3.8).
float elastic_energy(MpmTerms terms, vec3 sigma, float plastic_volume) {
    float j = sigma.x * sigma.y * sigma.z;
    vec3 strain = sigma - 1.0;
    float shape = terms.mu_pa * dot(strain, strain);
    return hardening_factor(terms, plastic_volume) * (shape + 0.5 * terms.lambda_pa * (j - 1.0) * (j - 1.0));
}

#endif
