#version 460
// Counts links and the eligible pairs that have none: census[0] links, census[1] pairs of which an end has no room, census[2]
// pairs with room at both ends, which is 0 when a build was maximal. The lower end of a pair counts it.
//
// Bytes: 24 + 4 · N_MAX a particle plus candidates from cache. Order-independent: counts are integers.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "interlinks/links.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 5) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 6) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 7) buffer Census { uint census[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    LinkTerms terms;
};

bool is_linked(uint i, uint j) {
    for (uint slot = 0u; slot < degree[i]; ++slot)
        if (partner[slot_idx(terms, slot, i)] == j) return true;
    return false;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint links = 0u;
    for (uint slot = 0u; slot < degree[i]; ++slot)
        if (partner[slot_idx(terms, slot, i)] > i) ++links;
    if (links > 0u) atomicAdd(census[0], links);

    uint limit = link_limit(terms, temperature[i]);
    if (limit == 0u) return;
    vec3 x = position[i];
    float reach = radius2_m2(terms);
    uint refused = 0u;
    uint open = 0u;
    FOR_EACH_CANDIDATE(grid, home_of(grid, key[i]), j) {
        if (j <= i || !(distance2_m2(x, position[j]) <= reach)) continue;
        uint other_limit = link_limit(terms, temperature[j]);
        if (other_limit == 0u || is_linked(i, j)) continue;
        if (degree[i] < limit && degree[j] < other_limit) ++open;
        else ++refused;
    }
    if (refused > 0u) atomicAdd(census[1], refused);
    if (open > 0u) atomicAdd(census[2], open);
}
