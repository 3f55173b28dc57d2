#version 460
// Counts bonds and unbonded eligible pairs: counts[0] bonds, counts[1] pairs with an end at its limit,
// counts[2] pairs with both ends below their limits, which is 0 after a maximal build. The lower end of a
// pair counts it.
//
// Bytes: 24 + 4 · degree a particle plus candidates from cache. Order-independent: counts are integers.
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
layout(scalar, binding = 7) buffer Counts { uint counts[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    BondTerms terms;
};

bool is_bonded(uint i, uint j) {
    for (uint slot = 0u; slot < degree[i]; ++slot)
        if (partner[slot_idx(terms.table, slot, i)] == j) return true;
    return false;
}

bool is_below_limit(uint i) { return degree[i] < min(limit[i], terms.max_bonds); }

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint bonds = 0u;
    FOR_EACH_BOND(terms.table, i, at) if (partner[at] > i) ++bonds;
    if (bonds > 0u) atomicAdd(counts[0], bonds);

    if (limit[i] == 0u) return;
    vec3 x = position[i];
    float radius2 = radius2_m2(terms);
    uint at_limit = 0u;
    uint open = 0u;
    FOR_EACH_CANDIDATE(grid, home_of(grid, key[i]), j) {
        if (j <= i || !(distance2_m2(x, position[j]) <= radius2)) continue;
        if (limit[j] == 0u || is_bonded(i, j)) continue;
        if (is_below_limit(i) && is_below_limit(j)) ++open;
        else ++at_limit;
    }
    if (at_limit > 0u) atomicAdd(counts[1], at_limit);
    if (open > 0u) atomicAdd(counts[2], open);
}
