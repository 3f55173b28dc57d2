#version 460
// Stores the contacts with a history in rows by the ids of the grains, under the ids of their partners.
//
// Bytes: 12 a grain read; 4 a row read and, for one with a history, 20 (32 with rolling) read and written.
// Order-independent.
// Elements: near = all, list_shear = all, list_rolling = all, contact = all, shear = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_ROLLING = 1;
#include "dem/contact_rows.glsl"
#include "dem/lists.glsl"
#include "dem/partners.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
// Id of each grain.
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 3) readonly buffer Near { uint near[]; };
layout(scalar, binding = 4) readonly buffer ListShear { vec4 list_shear[]; };
layout(scalar, binding = 5) readonly buffer ListRolling { vec3 list_rolling[]; };
layout(scalar, binding = 6) readonly buffer StoredFirstRow { uint stored_first_row[]; };
layout(scalar, binding = 7) writeonly buffer Contact { uint contact[]; };
layout(scalar, binding = 8) writeonly buffer Shear { vec4 shear[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint to = stored_first_row[order[i]];
    uint end = min(first_row[i + 1u], near.length());
    [[dont_unroll]] for (uint row = first_row[i]; row < end; ++row) {
        uint word = near[row];
        if ((word & KEPT) == 0u) continue;
        uint partner = word < FIRST_WALL ? order[word & INDEX_BITS] : word & ~KEPT;
        vec4 spring = list_shear[row];
        bool is_bonded = spring.w == IS_BONDED && word < FIRST_WALL;
        if (is_bonded) spring.w = 0.0;
        contact[CONTACT_WORDS * to] = partner_word(partner, is_bonded ? BONDED : UNBONDED);
        shear[to] = spring;
        if (HAS_ROLLING != 0u) {
            vec3 rolling = list_rolling[row];
            [[unroll]] for (uint axis = 0u; axis < 3u; ++axis)
                contact[CONTACT_WORDS * to + 1u + axis] = floatBitsToUint(rolling[axis]);
        }
        ++to;
    }
}
