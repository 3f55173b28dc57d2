#version 460
// Closes the holes that released claims leave in rows, and counts their bonds: occupied slots move to the
// front, in order.
//
// Bytes: 8 + (16 + 8 · state columns) · slots a particle at most. Order-independent: each thread moves within
// its own row.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) buffer Partner { uint partner[]; };
layout(scalar, binding = 2) buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 3) buffer State { uint state[]; };
layout(scalar, binding = 4) writeonly buffer Degree { uint degree[]; };
layout(scalar, push_constant) uniform Params { BondTable table; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint bonds = 0u;
    for (uint slot = 0u; slot < table.slots; ++slot) {
        uint from = slot_idx(table, slot, i);
        uint j = partner[from];
        if (j == INVALID_INDEX) continue;
        if (bonds < slot) {
            uint to = slot_idx(table, bonds, i);
            partner[to] = j;
            rest_length_m[to] = rest_length_m[from];
            for (uint column = 0u; column < table.state_columns; ++column)
                state[state_idx(table, column, to)] = state[state_idx(table, column, from)];
            partner[from] = INVALID_INDEX;
        }
        ++bonds;
    }
    degree[i] = bonds;
}
