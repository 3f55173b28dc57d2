#version 460
// Linking by compare-and-swap (000 §7.2.3): the lower end of an eligible pair claims an empty slot of its own record, then one of
// its partner's; if the partner has none left, it gives its own back. ORDER-DEPENDENT: which pairs are linked depends on which
// threads come first.
//
// Mended against the printed listing: a pair has one initiator, which has looked whether it is linked already; only slots below
// an end's limit are claimed, so no degree passes its limit; a failed claim is undone, so links have both ends.
//
// Looking for room at the partner before claiming is what makes passes end. The only claims ever undone are a particle's own,
// one at a time. Were a pass to add no link although an open pair is left, its lower end must have been kept out by such a claim
// of the upper end, which was in turn after a partner with room, kept out by a claim of that one, and so on to ever higher
// particles: the last of them meets nobody and links. So a pass that adds no link leaves no pair with room at both ends.
// Neighbours that run in step can all meet so; a few attempts in place of a pass each resolve that.
// Bytes: 24 + 12 · N_MAX a particle plus candidates from cache.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "interlinks/links.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 5) coherent buffer Partner { uint partner[]; };
layout(scalar, binding = 6) writeonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 7) buffer Progress { uint progress[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    LinkTerms terms;
    uint round;
};

const uint ATTEMPTS = 16u;

// Looks through the whole record: claims that were given back leave holes.
bool is_linked(uint i, uint j) {
    for (uint slot = 0u; slot < N_MAX; ++slot)
        if (partner[slot_idx(terms, slot, i)] == j) return true;
    return false;
}

bool has_room(uint i, uint limit) {
    for (uint slot = 0u; slot < limit; ++slot)
        if (partner[slot_idx(terms, slot, i)] == INVALID_INDEX) return true;
    return false;
}

// The slot of i that now holds j, or INVALID_INDEX.
uint claim(uint i, uint limit, uint j) {
    for (uint slot = 0u; slot < limit; ++slot)
        if (atomicCompSwap(partner[slot_idx(terms, slot, i)], INVALID_INDEX, j) == INVALID_INDEX) return slot;
    return INVALID_INDEX;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (round > 0u && progress[round - 1u] == 0u) return;
    uint limit = link_limit(terms, temperature[i]);
    // Nobody else's claim in this record is ever undone: what is full stays full.
    if (!has_room(i, limit)) return;
    vec3 x = position[i];
    float reach = radius2_m2(terms);
    uint made = 0u;
    bool full = false;
    FOR_EACH_CANDIDATE(grid, home_of(grid, key[i]), j) {
        if (j <= i || full) continue;
        float d2 = distance2_m2(x, position[j]);
        if (!(d2 <= reach) || is_linked(i, j)) continue;
        uint other_limit = link_limit(terms, temperature[j]);
        for (uint attempt = 0u; attempt < ATTEMPTS && has_room(j, other_limit); ++attempt) {
            uint own = claim(i, limit, j);
            full = own == INVALID_INDEX;
            if (full) break;
            uint other = claim(j, other_limit, i);
            if (other == INVALID_INDEX) {
                atomicExchange(partner[slot_idx(terms, own, i)], INVALID_INDEX);
                continue;
            }
            float rest = rest_length_of(terms, d2);
            rest_length_m[slot_idx(terms, own, i)] = rest;
            rest_length_m[slot_idx(terms, other, j)] = rest;
            ++made;
            break;
        }
    }
    if (made > 0u) atomicAdd(progress[round], made);
}
