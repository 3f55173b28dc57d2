// Interlinks: bonds between solid particles, kept twice, once in the record of either end (000 §4.1.2, §6.2.4).
//
// A record is N_MAX slots of (partner, rest length). Slot s of particle i stands at s · stride + i: threads that walk their own
// records read neighbouring words, and a walk that stops at the first empty slot leaves the rest of the table untouched.
// Occupied slots come first; the others hold INVALID_INDEX.

layout(constant_id = 1) const uint N_MAX = 8;

struct LinkTerms {
    float radius_m;
    float link_temperature_c;
    float freeze_temperature_c;
    float freeze_span_c;
    float links_per_c;
    uint links_at_freezing;
    float break_ratio;
    uint stride;
};

uint slot_idx(LinkTerms terms, uint slot, uint particle) { return slot * terms.stride + particle; }

// How many links a particle of this temperature may have: eq 6.8, rounded to nearest and clamped to 0 … N_MAX, and none above
// the linking temperature or for NaN, so that a limit of 0 is what makes a particle ineligible.
uint link_limit(LinkTerms terms, float temperature_c) {
    if (!(temperature_c <= terms.link_temperature_c)) return 0u;
    precise float cooling_c = clamp(terms.freeze_temperature_c - temperature_c, 0.0, terms.freeze_span_c);
    precise float links = cooling_c * terms.links_per_c;
    return min(terms.links_at_freezing + uint(floor(links + 0.5)), N_MAX);
}

// The same bits whichever end asks: squares do not see the sign of the offset, and nothing is contracted.
float distance2_m2(vec3 a_m, vec3 b_m) {
    precise vec3 offset = a_m - b_m;
    precise float squared = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
    return squared;
}

float radius2_m2(LinkTerms terms) {
    precise float squared = terms.radius_m * terms.radius_m;
    return squared;
}

// The distance to record. A square root may round past the radius; a rest length does not.
float rest_length_of(LinkTerms terms, float d2_m2) { return min(sqrt(d2_m2), terms.radius_m); }

// The order of preference: nearest first, ties by id. Restricted to the pairs of one particle it is the order of all pairs by
// (distance, lower id, higher id), so preferences cannot run in a circle.
bool is_nearer(float d2_m2, uint id, float than_d2_m2, uint than_id) {
    return d2_m2 < than_d2_m2 || (d2_m2 == than_d2_m2 && id < than_id);
}
