#version 460
// Reproducible linking, first half of a round: each particle with room names its nearest eligible candidates, as many as it has
// room for (eq 6.7: both no warmer than T_link, distance ≤ h; and the candidate has room and is not linked yet).
//
// Proposals are slots like those of a record, nearest first, ties by id; the first empty slot ends them. A round after one that
// made no link does nothing: it would find the same proposals. Nor are candidates searched again by a particle whose former
// proposals say what the search would find.
// Bytes: 32 + 8 · N_MAX a particle plus candidates from cache. Order-independent: a particle's preference is a total order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "interlinks/links.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 5) readonly buffer Id { uint id[]; };
layout(scalar, binding = 6) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 7) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 8) readonly buffer Progress { uint progress[]; };
layout(scalar, binding = 9) buffer Proposal { uint proposal[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    LinkTerms terms;
    uint round;
};

uint room(uint i) {
    uint limit = link_limit(terms, temperature[i]);
    uint links = degree[i];
    return limit > links ? limit - links : 0u;
}

bool is_linked(uint i, uint j) {
    for (uint slot = 0u; slot < degree[i]; ++slot)
        if (partner[slot_idx(terms, slot, i)] == j) return true;
    return false;
}

// Takes what was accepted and who has no room any more out of the proposals of the last round. True if the rest is what a search
// would find: because nobody was lost, or because the proposals were all there was, fewer than there was room for.
bool can_keep_proposals(uint i, uint wanted) {
    uint found = 0u;
    uint accepted = 0u;
    uint kept = 0u;
    for (; found < N_MAX; ++found) {
        uint j = proposal[slot_idx(terms, found, i)];
        if (j == INVALID_INDEX) break;
        if (is_linked(i, j)) ++accepted;
        else if (room(j) > 0u) proposal[slot_idx(terms, kept++, i)] = j;
    }
    if (kept < N_MAX) proposal[slot_idx(terms, kept, i)] = INVALID_INDEX;
    return accepted + kept == found || found < wanted + accepted;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (round > 0u && progress[round - 1u] == 0u) return;
    uint wanted = room(i);
    if (round > 0u && wanted > 0u && can_keep_proposals(i, wanted)) return;
    uint best[N_MAX];
    uint best_id[N_MAX];
    float best_d2[N_MAX];
    uint found = 0u;
    if (wanted > 0u) {
        vec3 x = position[i];
        float reach = radius2_m2(terms);
        FOR_EACH_CANDIDATE(grid, home_of(grid, key[i]), j) {
            float d2 = distance2_m2(x, position[j]);
            // Written so that NaN is out of reach.
            if (j == i || !(d2 <= reach)) continue;
            uint id_j = id[j];
            if (found == wanted && !is_nearer(d2, id_j, best_d2[found - 1u], best_id[found - 1u])) continue;
            if (room(j) == 0u || is_linked(i, j)) continue;
            uint place = found < wanted ? found++ : found - 1u;
            for (; place > 0u && is_nearer(d2, id_j, best_d2[place - 1u], best_id[place - 1u]); --place) {
                best[place] = best[place - 1u];
                best_id[place] = best_id[place - 1u];
                best_d2[place] = best_d2[place - 1u];
            }
            best[place] = j;
            best_id[place] = id_j;
            best_d2[place] = d2;
        }
    }
    for (uint slot = 0u; slot < found; ++slot) proposal[slot_idx(terms, slot, i)] = best[slot];
    if (found < N_MAX) proposal[slot_idx(terms, found, i)] = INVALID_INDEX;
}
