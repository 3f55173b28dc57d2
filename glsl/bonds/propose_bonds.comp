#version 460
// Proposes bonds, the first half of a round of reproducible building: each particle below its limit proposes
// to its nearest eligible candidates, as many as it may still bond with. Candidates are within the radius,
// below their own limit, and not bonded to it yet.
//
// Proposals are slots like those of a row, nearest first, ties by id; the first empty slot ends them. Two
// searches are saved: a round after one that made no bond does nothing, since it would find the same
// proposals, and a particle whose previous proposals determine the search result keeps them. A build that
// does not fit (required > slots) does nothing.
// Bytes: 32 + 8 · slots a particle plus candidates from cache. Order-independent: a particle's preference is
// a total order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "bonds/bonds.glsl"
#include "bonds/search.glsl"
#include "bonds/preference.glsl"

// Number of slots of the table, in which candidates are ranked: an array of them would be in memory, too.
layout(constant_id = 1) const uint SLOTS = 8;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer Limit { uint limit[]; };
layout(scalar, binding = 5) readonly buffer Id { uint id[]; };
layout(scalar, binding = 6) readonly buffer Required { uint required[]; };
layout(scalar, binding = 7) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 8) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 9) readonly buffer Progress { uint progress[]; };
layout(scalar, binding = 10) buffer Proposal { uint proposal[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    BondTerms terms;
    uint round;
};

uint remaining_bonds(uint i) {
    uint most = min(limit[i], terms.max_bonds);
    uint bonds = degree[i];
    return most > bonds ? most - bonds : 0u;
}

bool is_bonded(uint i, uint j) {
    for (uint slot = 0u; slot < degree[i]; ++slot)
        if (partner[slot_idx(terms.table, slot, i)] == j) return true;
    return false;
}

// Removes accepted and saturated candidates from the proposals of the last round. Returns true if the rest is
// what a search would find: because no candidate was removed, or because the proposals were complete, fewer
// than the limit allowed.
bool can_keep_proposals(uint i, uint remaining) {
    uint found = 0u;
    uint accepted = 0u;
    uint kept = 0u;
    for (; found < SLOTS; ++found) {
        uint j = proposal[slot_idx(terms.table, found, i)];
        if (j == INVALID_INDEX) break;
        if (is_bonded(i, j)) ++accepted;
        else if (remaining_bonds(j) > 0u) proposal[slot_idx(terms.table, kept++, i)] = j;
    }
    if (kept < SLOTS) proposal[slot_idx(terms.table, kept, i)] = INVALID_INDEX;
    return accepted + kept == found || found < remaining + accepted;
}

// Returns true if a candidate at this squared distance, with this id, is preferred to another one.
bool precedes(vec3 x, float d2, uint id_j, uint other) {
    return is_nearer(d2, id_j, distance2_m2(x, position[other]), id[other]);
}

void main() {
    uint i = thread_idx();
    if (i >= count[0] || required[0] > SLOTS) return;
    if (round > 0u && progress[round - 1u] == 0u) return;
    // The candidates always fit: `required` has checked that.
    uint remaining = min(remaining_bonds(i), SLOTS);
    if (round > 0u && remaining > 0u && can_keep_proposals(i, remaining)) return;
    uint found = 0u;
    if (remaining > 0u) {
        vec3 x = position[i];
        float radius2 = radius2_m2(terms);
        FOR_EACH_CANDIDATE(grid, home_of(grid, key[i]), j) {
            float d2 = distance2_m2(x, position[j]);
            // Written so that NaN is out of range.
            if (j == i || !(d2 <= radius2)) continue;
            uint id_j = id[j];
            if (found == remaining && !precedes(x, d2, id_j, proposal[slot_idx(terms.table, found - 1u, i)]))
                continue;
            if (remaining_bonds(j) == 0u || is_bonded(i, j)) continue;
            uint place = found < remaining ? found++ : found - 1u;
            // Bound: the slots of the table.
            [[dont_unroll]] for (; place > 0u; --place) {
                uint before = proposal[slot_idx(terms.table, place - 1u, i)];
                if (!precedes(x, d2, id_j, before)) break;
                proposal[slot_idx(terms.table, place, i)] = before;
            }
            proposal[slot_idx(terms.table, place, i)] = j;
        }
    }
    if (found < SLOTS) proposal[slot_idx(terms.table, found, i)] = INVALID_INDEX;
}
