// Particle shifting: displacement of a particle in stretched fluid, from where neighbours are dense to where
// they are sparse. Lind2012 shift along the gradient of concentration; this is its part along the stretch.
//
//   s = tr M tr B/9 ≥ 1                                     1 where neighbours are alike on all sides
//   P = K⁴/tr K⁴, K = I + D/√(D:D)                          close to the projector on the direction of fastest stretch
//   g = −P Σ_j w x̂_ij/m₀                                    0 where neighbours balance along it
//   β = min(max((s − 1.02)/0.1, 0), 1) max(1 − |g|²/0.7², 0)
//   δ = h β min(c Δt P:D, 0.1) g,  for P:D > 0
//
// Where fluid stretches, layers of particles part in pairs: gradients do not see a gap across which weights
// have fallen, and fluid crumbles. Shifting at some times the rate of stretch keeps layers in the middle
// between their neighbours. β is 0 where neighbours are as on the lattice, and at the ends of threads, which
// must not grow: beside a flat surface that is stretched along its normal, |g| = 1.5.
#ifndef VISCOELASTIC_SHIFTING
#define VISCOELASTIC_SHIFTING

const float SHIFTING_ONSET = 1.02;
const float SHIFTING_GROWTH = 0.1;
const float SHIFTING_BALANCE = 0.7;
// With more in a step, particles would overshoot.
const float MAX_SHIFTING = 0.1;

float double_dot(mat3 a, mat3 b) { return dot(a[0], b[0]) + dot(a[1], b[1]) + dot(a[2], b[2]); }

float trace(mat3 m) { return m[0][0] + m[1][1] + m[2][2]; }

// Returns the square of a symmetric matrix over its trace.
mat3 sharpened(mat3 m) {
    mat3 square = symmetric(m * m);
    return square / trace(square);
}

// Returns δ in m: `balance` is −Σ w x̂/m₀.
vec3 shift_along_stretch(ViscoelasticTerms t, mat3 moment, mat3 inverse_moment, mat3 twice_rate, vec3 balance) {
    float onset = (trace(moment) * trace(inverse_moment) / 9.0 - SHIFTING_ONSET) / SHIFTING_GROWTH;
    float size = sqrt(double_dot(twice_rate, twice_rate));
    // Without gradients the inverse moment is zero.
    if (onset <= 0.0 || size == 0.0) return vec3(0.0);
    mat3 along = sharpened(sharpened(mat3(1.0) + twice_rate / size));
    float rate_per_s = max(0.5 * double_dot(along, twice_rate), 0.0);
    vec3 g = along * balance;
    float inside = max(1.0 - dot(g, g) / (SHIFTING_BALANCE * SHIFTING_BALANCE), 0.0);
    return t.support_m * min(onset, 1.0) * inside * min(t.shifting * t.dt_s * rate_per_s, MAX_SHIFTING) * g;
}

#endif
