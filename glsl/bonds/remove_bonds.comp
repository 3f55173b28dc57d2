#version 460
// Removes bonds that one of their ends does not keep. Rows are written to another table, in order, so that
// each end reads the unchanged row of the other.
//
// Bytes: 20 + (20 + 8 · state columns) · slots a particle, the row of each partner. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer KeepMask { uint keep_mask[]; };
layout(scalar, binding = 2) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 3) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 4) readonly buffer State { uint state[]; };
layout(scalar, binding = 5) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 6) writeonly buffer KeptPartner { uint kept_partner[]; };
layout(scalar, binding = 7) writeonly buffer KeptRestLength { float kept_rest_length_m[]; };
layout(scalar, binding = 8) writeonly buffer KeptState { uint kept_state[]; };
layout(scalar, binding = 9) writeonly buffer KeptDegree { uint kept_degree[]; };
layout(scalar, binding = 10) buffer Broken { uint broken[]; };
layout(scalar, push_constant) uniform Params { BondTable table; };

bool keeps_slot(uint i, uint slot) {
    return (keep_mask[slot_idx(table, slot / 32u, i)] & (1u << slot % 32u)) != 0u;
}

bool keeps(uint j, uint i) {
    for (uint slot = 0u; slot < degree[j]; ++slot)
        if (partner[slot_idx(table, slot, j)] == i) return keeps_slot(j, slot);
    return false;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint bonds = 0u;
    uint lost = 0u;
    for (uint slot = 0u; slot < degree[i]; ++slot) {
        uint from = slot_idx(table, slot, i);
        uint j = partner[from];
        if (keeps_slot(i, slot) && keeps(j, i)) {
            uint to = slot_idx(table, bonds, i);
            kept_partner[to] = j;
            kept_rest_length_m[to] = rest_length_m[from];
            for (uint column = 0u; column < table.state_columns; ++column)
                kept_state[state_idx(table, column, to)] = state[state_idx(table, column, from)];
            ++bonds;
        } else if (i < j) {
            ++lost;
        }
    }
    kept_degree[i] = bonds;
    // Empty slots have the same bits whatever was in them, so that equal bonds are equal tables.
    for (uint slot = bonds; slot < table.slots; ++slot) {
        uint to = slot_idx(table, slot, i);
        kept_partner[to] = INVALID_INDEX;
        kept_rest_length_m[to] = 0.0;
        for (uint column = 0u; column < table.state_columns; ++column)
            kept_state[state_idx(table, column, to)] = 0u;
    }
    if (lost > 0u) atomicAdd(broken[0], lost);
}
