// The order of preference among bonds of one particle: nearest first, ties by id. Restricted to the pairs of one particle
// it is the order of all pairs by (distance, lower id, higher id), so preferences cannot run in a circle.
bool is_nearer(float d2_m2, uint id, float than_d2_m2, uint than_id) {
    return d2_m2 < than_d2_m2 || (d2_m2 == than_d2_m2 && id < than_id);
}
