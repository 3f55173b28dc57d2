// Body of a kernel that marks broken bonds by its own rule: bit s of a row's keep mask is set if its particle
// keeps slot s. `remove_bonds` removes every bond that either end does not keep.
//
// A bond is broken if should_break returns true, or if an end has limit 0. Of the others a particle keeps as
// many as its limit allows, those with the shortest rest length, ties by id. A keep mask has as many 32-bit
// words per row as its slots require; word w of particle i is at w · stride + i.
//
// The kernel includes common/kernel.glsl and bonds/bonds.glsl, declares push constants with `BondTable table`
// and `uint max_bonds` among them, includes this file, declares the inputs of its rule from binding 7 on, and
// defines should_break. `at` is the index in the columns of the bond of i with j. If the rule does not return
// the same at both ends, a bond is removed if either end says so.
#include "bonds/preference.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Limit { uint limit[]; };
layout(scalar, binding = 2) readonly buffer Id { uint id[]; };
layout(scalar, binding = 3) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 4) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 5) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 6) buffer KeepMask { uint keep_mask[]; };

bool should_break(uint i, uint j, uint at);

bool is_kept_(uint i, uint slot) {
    return (keep_mask[slot_idx(table, slot / 32u, i)] & (1u << slot % 32u)) != 0u;
}

// Clears the bit of the bond that is last in the order of preference.
void give_up_last_(uint i, uint bonds) {
    uint last = INVALID_INDEX;
    uint last_id = 0u;
    float last_rest_m = 0.0;
    for (uint slot = 0u; slot < bonds; ++slot) {
        if (!is_kept_(i, slot)) continue;
        uint at = slot_idx(table, slot, i);
        float rest_m = rest_length_m[at];
        uint other = id[partner[at]];
        if (last == INVALID_INDEX || is_nearer(last_rest_m, last_id, rest_m, other)) {
            last = slot;
            last_id = other;
            last_rest_m = rest_m;
        }
    }
    keep_mask[slot_idx(table, last / 32u, i)] &= ~(1u << last % 32u);
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint max_kept = min(limit[i], max_bonds);
    uint bonds = degree[i];
    uint n_kept = 0u;
    for (uint begin = 0u; begin < bonds; begin += 32u) {
        uint kept = 0u;
        for (uint slot = begin; slot < min(bonds, begin + 32u) && max_kept > 0u; ++slot) {
            uint at = slot_idx(table, slot, i);
            uint j = partner[at];
            if (limit[j] > 0u && !should_break(i, j, at)) kept |= 1u << slot % 32u;
        }
        keep_mask[slot_idx(table, begin / 32u, i)] = kept;
        n_kept += bitCount(kept);
    }
    for (; n_kept > max_kept; --n_kept) give_up_last_(i, bonds);
}
