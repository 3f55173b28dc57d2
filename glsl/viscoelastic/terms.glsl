// Constants of a viscoelastic fluid, the same for all particles, in a buffer of one element.
#ifndef VISCOELASTIC_TERMS
#define VISCOELASTIC_TERMS

// Elasticity models.
const uint NO_ELASTICITY = 0u;
const uint CONFORMATION = 1u;
const uint STRAIN_TENSOR = 2u;
// Springs between particles, which the kernels of the stress treat as no elasticity.
const uint SPRINGS = 3u;

// Viscosity laws.
const uint NEWTONIAN = 0u;
const uint CARREAU = 1u;
const uint POWER_LAW = 2u;
const uint HERSCHEL_BULKLEY = 3u;

// Vectors of four that hold what bodies add to a particle's neighbourhood (summed_walls.glsl).
const uint BODY_WALL_VECTORS = 6u;

struct ViscoelasticTerms {
    Grid grid;
    vec3 domain_min_m;
    vec3 domain_max_m;
    float support_m;
    float dt_s;
    float density_kg_m3;
    // Periodic axes, and faces to which the fluid sticks: a bit for each lower, then for each upper face.
    uint periodic;
    uint sticky_faces;
    // Σ w q²/3 over the lattice: of the moment matrix, which is the identity there.
    float lattice_moment;
    float modulus_pa;
    // 1/λ in 1/s, 0 without relaxation, and the yield stress in Pa, negative without one.
    float relaxation_per_s;
    float yield_stress_pa;
    // γ and α of Huang2016 eq 2.26.
    float yield_strain;
    float decay_per_s;
    uint law;
    // η₀ in Pa s, η∞, t in s, n, K in Pa sⁿ, τ_y in Pa and the bound of the viscosity in Pa s.
    float viscosity_pa_s;
    float infinite_shear_pa_s;
    float time_s;
    float exponent;
    float consistency;
    float law_yield_pa;
    float max_pa_s;
    // Viscosity in Pa s of motion that gradients do not resolve, beside that of the law.
    float unresolved_pa_s;
    // Bulk viscosity over shear viscosity.
    float bulk_ratio;
    // c of shifting.glsl.
    float shifting;
    // Particles beyond this height along this axis are fed (hold_feed.comp); above all without a feed.
    uint feed_axis;
    float feed_mouth_m;
};

// Returns true if a particle at x* moves at the velocity of the feed, whatever acts on it.
bool is_fed(ViscoelasticTerms t, vec3 x) { return x[t.feed_axis] > t.feed_mouth_m; }

// Returns true if all neighbours of a fed particle are fed, so that its coupling acts on nothing.
bool is_deep_in_feed(ViscoelasticTerms t, vec3 x) { return x[t.feed_axis] > t.feed_mouth_m + t.support_m; }

// Returns the viscosity in Pa s at a rate of shear in 1/s.
float viscosity_at(ViscoelasticTerms t, float rate_per_s) {
    if (t.law == NEWTONIAN) return t.viscosity_pa_s;
    if (t.law == CARREAU) {
        float base = 1.0 + t.time_s * t.time_s * rate_per_s * rate_per_s;
        float thinning = (t.viscosity_pa_s - t.infinite_shear_pa_s) * pow(base, 0.5 * (t.exponent - 1.0));
        return min(t.infinite_shear_pa_s + thinning, t.max_pa_s);
    }
    float rate = max(rate_per_s, 1e-12);
    float viscosity = t.consistency * pow(rate, t.exponent - 1.0);
    if (t.law == HERSCHEL_BULKLEY) viscosity += t.law_yield_pa / rate;
    return min(viscosity, t.max_pa_s);
}

#endif
