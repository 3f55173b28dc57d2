// Springs between particles of a viscoelastic fluid (Clavet2005 §4.2; Huang2016 algorithm 3): the tension of
// a spring of length r and rest length L is k (1 − L/h)(r − L). Its stiffness falls to 0 at the support
// radius, so that springs that are made or removed there have no force, and short springs count more: by 1 −
// L/h the cubic lattice is nearly isotropic.
struct SpringTerms {
    BondTable table;
    // k in N/m and h in m.
    float stiffness_n_m;
    float support_m;
};

// Returns the stiffness in N/m of a spring, the same bits at both ends.
float spring_stiffness(SpringTerms terms, float rest_m) {
    precise float share = max(1.0 - rest_m / terms.support_m, 0.0);
    precise float stiffness = terms.stiffness_n_m * share;
    return stiffness;
}
