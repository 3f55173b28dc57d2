#version 460
// Accepts proposals, the second half of a round of reproducible building: a pair is bonded if each end
// proposed to the other. Each end writes its own row, nearest first, and both find the same pairs, so no
// locks and no rollback are needed.
//
// A particle proposes to no more candidates than it may still bond with, so its degree cannot exceed its
// limit.
// Bytes: 24 + (24 + 4 · state columns) · slots a particle at most, and the proposals of those it proposed to.
// Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"
#include "bonds/search.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Proposal { uint proposal[]; };
layout(scalar, binding = 3) readonly buffer InitialState { uint initial_state[]; };
layout(scalar, binding = 4) readonly buffer Required { uint required[]; };
layout(scalar, binding = 5) writeonly buffer Partner { uint partner[]; };
layout(scalar, binding = 6) writeonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 7) writeonly buffer State { uint state[]; };
layout(scalar, binding = 8) buffer Degree { uint degree[]; };
layout(scalar, binding = 9) buffer Progress { uint progress[]; };
layout(scalar, push_constant) uniform Params {
    BondTerms terms;
    uint round;
};

bool has_proposed(uint j, uint i) {
    for (uint slot = 0u; slot < terms.table.slots; ++slot) {
        uint candidate = proposal[slot_idx(terms.table, slot, j)];
        if (candidate == i) return true;
        if (candidate == INVALID_INDEX) return false;
    }
    return false;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0] || required[0] > terms.table.slots) return;
    if (round > 0u && progress[round - 1u] == 0u) return;
    uint bonds = degree[i];
    uint made = 0u;
    for (uint slot = 0u; slot < terms.table.slots; ++slot) {
        uint j = proposal[slot_idx(terms.table, slot, i)];
        if (j == INVALID_INDEX) break;
        if (!has_proposed(j, i)) continue;
        uint at = slot_idx(terms.table, bonds, i);
        partner[at] = j;
        rest_length_m[at] = rest_length_of(terms, distance2_m2(position[i], position[j]));
        for (uint column = 0u; column < terms.table.state_columns; ++column)
            state[state_idx(terms.table, column, at)] = initial_state[column];
        ++bonds;
        // Each bond is counted once.
        if (i < j) ++made;
    }
    degree[i] = bonds;
    if (made > 0u) atomicAdd(progress[round], made);
}
