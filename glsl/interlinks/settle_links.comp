#version 460
// Closes the holes that claims leave in records and counts their links: occupied slots move to the front, in order.
//
// Bytes: 8 + 16 · N_MAX a particle at most. Order-independent: each thread moves within its own record.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "interlinks/links.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) buffer Partner { uint partner[]; };
layout(scalar, binding = 2) buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 3) writeonly buffer Degree { uint degree[]; };
layout(scalar, push_constant) uniform Params { LinkTerms terms; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint links = 0u;
    for (uint slot = 0u; slot < N_MAX; ++slot) {
        uint from = slot_idx(terms, slot, i);
        uint j = partner[from];
        if (j == INVALID_INDEX) continue;
        if (links < slot) {
            uint to = slot_idx(terms, links, i);
            partner[to] = j;
            rest_length_m[to] = rest_length_m[from];
            partner[from] = INVALID_INDEX;
        }
        ++links;
    }
    degree[i] = links;
}
