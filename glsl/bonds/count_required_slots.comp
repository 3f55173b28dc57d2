#version 460
// Computes the number of slots that a build may require: required[0] = max over particles whose limit is
// above the table's slots of min(limit, degree + eligible unbonded candidates), if that is above the slots,
// else 0. Rounds only turn candidates into bonds, so no round requires more.
//
// Bytes: 24 + 4 · degree a particle plus candidates from cache. Order-independent: a maximum of integers.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "bonds/bonds.glsl"
#include "bonds/search.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer Limit { uint limit[]; };
layout(scalar, binding = 5) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 6) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 7) buffer Required { uint required[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    BondTerms terms;
};

bool is_bonded(uint i, uint j) {
    for (uint slot = 0u; slot < degree[i]; ++slot)
        if (partner[slot_idx(terms.table, slot, i)] == j) return true;
    return false;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint most = min(limit[i], terms.max_bonds);
    if (most <= terms.table.slots) return;
    vec3 x = position[i];
    float radius2 = radius2_m2(terms);
    uint needed = degree[i];
    FOR_EACH_CANDIDATE(grid, home_of(grid, key[i]), j) {
        if (j == i || !(distance2_m2(x, position[j]) <= radius2)) continue;
        if (limit[j] > 0u && !is_bonded(i, j)) ++needed;
    }
    needed = min(needed, most);
    if (needed > terms.table.slots) atomicMax(required[0], needed);
}
