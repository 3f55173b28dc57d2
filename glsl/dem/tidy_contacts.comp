#version 460
// Counts each grain's stored contacts and the bonds among them, and clears the rows after the last grain's,
// so that the bits of a state do not depend on its past. Only needed for output from the device, not by a
// step. Bytes: 8 a grain (with bonds 12, and 4 a contact), 32 for each unused row. Order-independent.
// Elements: bond_count = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_ROLLING = 1;
layout(constant_id = 2) const uint HAS_BONDS = 1;
#include "dem/contact_rows.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 2) buffer Contact { uint contact[]; };
layout(scalar, binding = 3) writeonly buffer Shear { vec4 shear[]; };
layout(scalar, binding = 4) writeonly buffer ContactCount { uint contact_count[]; };
layout(scalar, binding = 5) writeonly buffer BondCount { uint bond_count[]; };

// One thread per row, and per grain.
void main() {
    uint i = thread_idx();
    uint n = count[0];
    if (i < shear.length() && i >= first_row[n]) {
        contact[CONTACT_WORDS * i] = INVALID_INDEX;
        [[unroll]] for (uint word = 1u; word < CONTACT_WORDS; ++word) contact[CONTACT_WORDS * i + word] = 0u;
        shear[i] = vec4(0.0);
    }
    if (i >= n) return;
    uint begin = first_row[i];
    uint end = first_row[i + 1u];
    contact_count[i] = end - begin;
    if (HAS_BONDS == 0u) return;
    uint n_bonds = 0u;
    // Other threads write only rows after those of all grains.
    [[dont_unroll]] for (uint row = begin; row < end; ++row)
        n_bonds += bond_state_of(contact[CONTACT_WORDS * row]);
    bond_count[i] = n_bonds;
}
