#version 460
// Finds the stored history of each listed contact, by the partner's id, and replaces that id by the partner's
// index among the sorted grains; stores where the lists are valid.
//
// Bytes: 28 a grain read, 12 written; 8 a row read, 4 written, and 20 (32 with rolling) read and 16 (32)
// written for one with a history. Order-independent.
// Elements: near = all, list_shear = all, list_rolling = all, contact = all, shear = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_ROLLING = 1;
#include "dem/contact_rows.glsl"
#include "dem/lists.glsl"
#include "dem/partners.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Sphere { vec4 sphere[]; };
// Id of each grain, and index of each id.
layout(scalar, binding = 2) readonly buffer Order { uint order[]; };
layout(scalar, binding = 3) readonly buffer Place { uint place[]; };
// Stored contacts, by id.
layout(scalar, binding = 4) readonly buffer StoredFirstRow { uint stored_first_row[]; };
layout(scalar, binding = 5) readonly buffer Contact { uint contact[]; };
layout(scalar, binding = 6) readonly buffer Shear { vec4 shear[]; };
layout(scalar, binding = 7) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 8) buffer Near { uint near[]; };
layout(scalar, binding = 9) writeonly buffer ListShear { vec4 list_shear[]; };
layout(scalar, binding = 10) writeonly buffer ListRolling { vec3 list_rolling[]; };
layout(scalar, binding = 11) writeonly buffer ListedAt { vec3 listed_at[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    listed_at[i] = sphere[i].xyz;
    uint id = order[i];
    uint old_row = stored_first_row[id];
    uint old_end = stored_first_row[id + 1u];
    uint end = min(first_row[i + 1u], near.length());
    uint stored = INVALID_INDEX;
    uint stored_partner = INVALID_INDEX;
    uint from = old_row;
    if (from < old_end) {
        stored = contact[CONTACT_WORDS * from];
        stored_partner = partner_of(stored);
    }
    // Both are in ascending order of the partner.
    [[dont_unroll]] for (uint row = first_row[i]; row < end; ++row) {
        uint partner = near[row];
        uint word = partner < FIRST_WALL ? place[partner] | (partner > id ? IS_HIGHER : 0u) : partner;
        // Bound: the rows of the grain; past them the partner is the largest number.
        [[dont_unroll]] while (stored_partner < partner) {
            ++from;
            stored = from < old_end ? contact[CONTACT_WORDS * from] : INVALID_INDEX;
            stored_partner = partner_of(stored);
        }
        if (stored_partner == partner) {
            word |= KEPT;
            vec4 spring = shear[from];
            if (bond_state_of(stored) == BONDED) spring.w = IS_BONDED;
            list_shear[row] = spring;
            if (HAS_ROLLING != 0u)
                list_rolling[row] = vec3(uintBitsToFloat(contact[CONTACT_WORDS * from + 1u]),
                                         uintBitsToFloat(contact[CONTACT_WORDS * from + 2u]),
                                         uintBitsToFloat(contact[CONTACT_WORDS * from + 3u]));
        }
        near[row] = word;
    }
}
