// What the kernels that search for pairs to bond share.

float radius2_m2(BondTerms terms) {
    precise float squared = terms.radius_m * terms.radius_m;
    return squared;
}

// The rest length of a new bond: the distance of its ends. A square root may round past the radius; a rest length does
// not.
float rest_length_of(BondTerms terms, float d2_m2) { return min(sqrt(d2_m2), terms.radius_m); }
