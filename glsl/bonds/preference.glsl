// Order of preference among the bonds of one particle: nearest first, ties by id. It is the order of all
// pairs by (distance, lower id, higher id), restricted to the pairs of one particle, so preferences cannot
// form a cycle.
bool is_nearer(float d2_m2, uint id, float than_d2_m2, uint than_id) {
    return d2_m2 < than_d2_m2 || (d2_m2 == than_d2_m2 && id < than_id);
}
