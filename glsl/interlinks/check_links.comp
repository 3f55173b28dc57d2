#version 460
// Counts what must not be: faults[k] of records, by kind.
//   0  a degree above N_MAX, or above its particle's limit
//   1  a partner that is no particle (past the count, or an empty slot below the degree), or an occupied slot past it
//   2  a particle linked to itself
//   3  a link that stands twice in a record
//   4  a link that the other end does not have
//   5  a link with another rest length at the other end, or one that is no length
//   6  a link with an end warmer than T_link
//
// Bytes: 8 + 8 · N_MAX a particle, as much again a partner. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "interlinks/links.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 2) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 3) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 4) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 5) buffer Faults { uint faults[]; };
layout(scalar, push_constant) uniform Params { LinkTerms terms; };

void main() {
    uint i = thread_idx();
    uint n = count[0];
    if (i >= n) return;
    uint links = degree[i];
    if (links > N_MAX || links > link_limit(terms, temperature[i])) atomicAdd(faults[0], 1u);
    for (uint slot = 0u; slot < N_MAX; ++slot) {
        uint at = slot_idx(terms, slot, i);
        uint j = partner[at];
        if (slot >= links) {
            if (j != INVALID_INDEX) atomicAdd(faults[1], 1u);
            continue;
        }
        if (j >= n) {
            atomicAdd(faults[1], 1u);
            continue;
        }
        if (j == i) atomicAdd(faults[2], 1u);
        for (uint other = 0u; other < slot; ++other) {
            if (partner[slot_idx(terms, other, i)] == j) atomicAdd(faults[3], 1u);
        }
        float rest = rest_length_m[at];
        bool is_mutual = false;
        bool is_equal = rest >= 0.0 && rest <= terms.radius_m;
        for (uint back = 0u; back < min(degree[j], N_MAX); ++back) {
            uint theirs = slot_idx(terms, back, j);
            if (partner[theirs] != i) continue;
            is_mutual = true;
            is_equal = is_equal && rest_length_m[theirs] == rest;
        }
        if (!is_mutual) atomicAdd(faults[4], 1u);
        else if (!is_equal) atomicAdd(faults[5], 1u);
        if (!(temperature[i] <= terms.link_temperature_c && temperature[j] <= terms.link_temperature_c)) {
            atomicAdd(faults[6], 1u);
        }
    }
}
