#version 460
// Reproducible linking, second half of a round: a pair is linked when each end proposed to the other. Each end writes its own
// record, nearest first, and both find the same pairs, so nothing is locked and nothing undone.
//
// A particle proposed to no more than it had room for, so its degree cannot pass its limit.
// Bytes: 24 + 24 · N_MAX a particle at most, and the proposals of those it proposed to. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "interlinks/links.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Proposal { uint proposal[]; };
layout(scalar, binding = 3) writeonly buffer Partner { uint partner[]; };
layout(scalar, binding = 4) writeonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 5) buffer Degree { uint degree[]; };
layout(scalar, binding = 6) buffer Progress { uint progress[]; };
layout(scalar, push_constant) uniform Params {
    LinkTerms terms;
    uint round;
};

bool has_proposed(uint j, uint i) {
    for (uint slot = 0u; slot < N_MAX; ++slot) {
        uint named = proposal[slot_idx(terms, slot, j)];
        if (named == i) return true;
        if (named == INVALID_INDEX) return false;
    }
    return false;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (round > 0u && progress[round - 1u] == 0u) return;
    uint links = degree[i];
    uint made = 0u;
    for (uint slot = 0u; slot < N_MAX; ++slot) {
        uint j = proposal[slot_idx(terms, slot, i)];
        if (j == INVALID_INDEX) break;
        if (!has_proposed(j, i)) continue;
        partner[slot_idx(terms, links, i)] = j;
        rest_length_m[slot_idx(terms, links, i)] =
            rest_length_of(terms, distance2_m2(position[i], position[j]));
        ++links;
        // A link counts once.
        if (i < j) ++made;
    }
    degree[i] = links;
    if (made > 0u) atomicAdd(progress[round], made);
}
