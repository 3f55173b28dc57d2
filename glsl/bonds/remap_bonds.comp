#version 460
// Moves rows with their particles, from order[i] to i, and renumbers partners. Bonds to removed particles are
// dropped; a new particle (order INVALID_INDEX) starts with an empty row.
//
// Bytes: 12 + (20 + 8 · state columns) · slots a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) readonly buffer NewPlace { uint new_place[]; };
layout(scalar, binding = 3) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 4) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 5) readonly buffer State { uint state[]; };
layout(scalar, binding = 6) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 7) writeonly buffer MovedPartner { uint moved_partner[]; };
layout(scalar, binding = 8) writeonly buffer MovedRestLength { float moved_rest_length_m[]; };
layout(scalar, binding = 9) writeonly buffer MovedState { uint moved_state[]; };
layout(scalar, binding = 10) writeonly buffer MovedDegree { uint moved_degree[]; };
layout(scalar, push_constant) uniform Params { BondTable table; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint source = order[i];
    uint before = source < table.stride ? degree[source] : 0u;
    uint bonds = 0u;
    for (uint slot = 0u; slot < before; ++slot) {
        uint from = slot_idx(table, slot, source);
        uint j = new_place[partner[from]];
        if (j == INVALID_INDEX) continue;
        uint to = slot_idx(table, bonds, i);
        moved_partner[to] = j;
        moved_rest_length_m[to] = rest_length_m[from];
        for (uint column = 0u; column < table.state_columns; ++column)
            moved_state[state_idx(table, column, to)] = state[state_idx(table, column, from)];
        ++bonds;
    }
    moved_degree[i] = bonds;
    // Empty slots have the same bits whatever was in them, so that equal bonds are equal tables.
    for (uint slot = bonds; slot < table.slots; ++slot) {
        uint to = slot_idx(table, slot, i);
        moved_partner[to] = INVALID_INDEX;
        moved_rest_length_m[to] = 0.0;
        for (uint column = 0u; column < table.state_columns; ++column)
            moved_state[state_idx(table, column, to)] = 0u;
    }
}
