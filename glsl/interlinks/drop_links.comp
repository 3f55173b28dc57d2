#version 460
// Breaking, second half: a link stays when both its ends would keep it. Records go to another table, in order, so that each end
// reads the other's as it was.
//
// Bytes: 20 + 20 · N_MAX a particle, the record of each partner. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "interlinks/links.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Verdict { uint verdict[]; };
layout(scalar, binding = 2) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 3) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 4) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 5) writeonly buffer KeptPartner { uint kept_partner[]; };
layout(scalar, binding = 6) writeonly buffer KeptRestLength { float kept_rest_length_m[]; };
layout(scalar, binding = 7) writeonly buffer KeptDegree { uint kept_degree[]; };
layout(scalar, binding = 8) buffer Broken { uint broken[]; };
layout(scalar, push_constant) uniform Params { LinkTerms terms; };

bool would_keep(uint j, uint i) {
    for (uint slot = 0u; slot < degree[j]; ++slot)
        if (partner[slot_idx(terms, slot, j)] == i) return (verdict[j] & (1u << slot)) != 0u;
    return false;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint own = verdict[i];
    uint links = 0u;
    uint lost = 0u;
    for (uint slot = 0u; slot < degree[i]; ++slot) {
        uint from = slot_idx(terms, slot, i);
        uint j = partner[from];
        if ((own & (1u << slot)) != 0u && would_keep(j, i)) {
            kept_partner[slot_idx(terms, links, i)] = j;
            kept_rest_length_m[slot_idx(terms, links, i)] = rest_length_m[from];
            ++links;
        } else if (i < j) {
            ++lost;
        }
    }
    kept_degree[i] = links;
    for (uint slot = links; slot < N_MAX; ++slot) kept_partner[slot_idx(terms, slot, i)] = INVALID_INDEX;
    if (lost > 0u) atomicAdd(broken[0], lost);
}
