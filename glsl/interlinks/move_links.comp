#version 460
// Records move with their particles, from order[i] to i, and partners take their new names. Links to particles that left go; a
// particle that was not here before (order INVALID_INDEX) begins with an empty record.
//
// Bytes: 12 + 20 · N_MAX a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "interlinks/links.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) readonly buffer NewPlace { uint new_place[]; };
layout(scalar, binding = 3) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 4) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 5) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 6) writeonly buffer MovedPartner { uint moved_partner[]; };
layout(scalar, binding = 7) writeonly buffer MovedRestLength { float moved_rest_length_m[]; };
layout(scalar, binding = 8) writeonly buffer MovedDegree { uint moved_degree[]; };
layout(scalar, push_constant) uniform Params { LinkTerms terms; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint from = order[i];
    uint before = from < terms.stride ? degree[from] : 0u;
    uint links = 0u;
    for (uint slot = 0u; slot < before; ++slot) {
        uint j = new_place[partner[slot_idx(terms, slot, from)]];
        if (j == INVALID_INDEX) continue;
        moved_partner[slot_idx(terms, links, i)] = j;
        moved_rest_length_m[slot_idx(terms, links, i)] = rest_length_m[slot_idx(terms, slot, from)];
        ++links;
    }
    moved_degree[i] = links;
    for (uint slot = links; slot < N_MAX; ++slot) moved_partner[slot_idx(terms, slot, i)] = INVALID_INDEX;
}
