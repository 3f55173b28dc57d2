// Shared functions of the kernels that search for pairs to bond.
#include "common/rounded_sqrt.glsl"

float radius2_m2(BondTerms terms) {
    precise float squared = terms.radius_m * terms.radius_m;
    return squared;
}

// Rest length of a new bond: the distance of its ends. A square root may round past the radius; a rest length
// is clamped to it.
float rest_length_of(BondTerms terms, float d2_m2) { return min(rounded_sqrt(d2_m2), terms.radius_m); }
