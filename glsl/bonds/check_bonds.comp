#version 460
// Counts faults in rows; faults[k] counts kind k: 0  a degree above the table's slots, or above its
// particle's limit 1  a partner that does not exist (past the count, or an empty slot below the degree), or
// an occupied slot past it 2  a particle bonded to itself 3  a bond that occurs twice in a row 4  a bond that
// the other end does not have 5  a bond with another rest length at the other end, or one that is not a valid
// length up to max_rest_length_m 6  a bond with other state at the other end 7  a bond with an end whose
// limit is 0
//
// One thread per slot, slot by slot: the work of a thread grows with the length of a row, not with its
// square.
// Bytes: 8 + (8 + 4 · state columns) · slots a particle, as much again a partner. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Limit { uint limit[]; };
layout(scalar, binding = 2) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 3) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 4) readonly buffer State { uint state[]; };
layout(scalar, binding = 5) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 6) buffer Faults { uint faults[]; };
layout(scalar, push_constant) uniform Params {
    BondTable table;
    uint max_bonds;
    float max_rest_length_m;
};

bool has_equal_state(uint at, uint other) {
    for (uint column = 0u; column < table.state_columns; ++column)
        if (state[state_idx(table, column, at)] != state[state_idx(table, column, other)]) return false;
    return true;
}

void main() {
    uint n = count[0];
    uint slot = thread_idx() / max(table.stride, 1u);
    uint i = thread_idx() - slot * table.stride;
    if (i >= n || slot >= table.slots) return;
    uint bonds = degree[i];
    if (slot == 0u && (bonds > table.slots || bonds > min(limit[i], max_bonds))) atomicAdd(faults[0], 1u);
    uint at = slot_idx(table, slot, i);
    uint j = partner[at];
    if (slot >= bonds) {
        if (j != INVALID_INDEX) atomicAdd(faults[1], 1u);
        return;
    }
    if (j >= n) {
        atomicAdd(faults[1], 1u);
        return;
    }
    if (j == i) atomicAdd(faults[2], 1u);
    for (uint other = 0u; other < slot; ++other) {
        if (partner[slot_idx(table, other, i)] == j) atomicAdd(faults[3], 1u);
    }
    float rest_m = rest_length_m[at];
    bool is_mutual = false;
    bool is_equal_length = rest_m >= 0.0 && rest_m <= max_rest_length_m;
    bool is_equal_state = true;
    for (uint back = 0u; back < min(degree[j], table.slots); ++back) {
        uint other = slot_idx(table, back, j);
        if (partner[other] != i) continue;
        is_mutual = true;
        is_equal_length = is_equal_length && rest_length_m[other] == rest_m;
        is_equal_state = is_equal_state && has_equal_state(at, other);
    }
    if (!is_mutual) {
        atomicAdd(faults[4], 1u);
    } else {
        if (!is_equal_length) atomicAdd(faults[5], 1u);
        if (!is_equal_state) atomicAdd(faults[6], 1u);
    }
    if (limit[i] == 0u || limit[j] == 0u) atomicAdd(faults[7], 1u);
}
