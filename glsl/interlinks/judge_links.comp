#version 460
// Breaking, first half: which of its links a particle would keep, bit s for slot s.
//
// A link goes when it is stretched past break_ratio · its rest length, or when an end may have no links any more (warmer than
// T_link). Of the others a particle keeps as many as its limit allows (eq 6.8: warming lowers it), those of the shortest rest
// length, ties by id.
// Bytes: 24 + 12 · N_MAX a particle, 20 a partner. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "interlinks/links.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 3) readonly buffer Id { uint id[]; };
layout(scalar, binding = 4) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 5) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 6) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 7) writeonly buffer Verdict { uint verdict[]; };
layout(scalar, push_constant) uniform Params { LinkTerms terms; };

// 1 + 2⁻²⁰: a device may round the square root of a rest length by 2.5 ulp, and a link that has not moved is whole at ratio 1.
const float ROUNDING = 1.00000095367431640625;

bool is_whole(uint i, uint j, float rest) {
    precise float limit_m = rest * terms.break_ratio;
    precise float limit_m2 = limit_m * limit_m * ROUNDING;
    return distance2_m2(position[i], position[j]) <= limit_m2;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint limit = link_limit(terms, temperature[i]);
    uint links = degree[i];
    uint kept = 0u;
    if (limit > 0u) {
        for (uint slot = 0u; slot < links; ++slot) {
            uint at = slot_idx(terms, slot, i);
            uint j = partner[at];
            if (link_limit(terms, temperature[j]) > 0u && is_whole(i, j, rest_length_m[at])) kept |= 1u << slot;
        }
    }
    while (bitCount(kept) > limit) {
        // The last in the order of preference goes.
        uint last = INVALID_INDEX;
        uint last_id = 0u;
        float last_rest = 0.0;
        for (uint slot = 0u; slot < links; ++slot) {
            if ((kept & (1u << slot)) == 0u) continue;
            uint at = slot_idx(terms, slot, i);
            float rest = rest_length_m[at];
            uint other = id[partner[at]];
            if (last == INVALID_INDEX || is_nearer(last_rest, last_id, rest, other)) {
                last = slot;
                last_id = other;
                last_rest = rest;
            }
        }
        kept &= ~(1u << last);
    }
    verdict[i] = kept;
}
