#version 460
// Counts for each particle the candidates in its 27 cells and those of them within the radius, without
// itself: the cost and the yield of a search.
//
// Bytes: 24 a particle plus candidates from cache. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) writeonly buffer Found { uvec2 found[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    float radius_m;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = position[i];
    uint candidates = 0u;
    uint hits = 0u;
    FOR_EACH_CANDIDATE(grid, home_of(grid, key[i]), j) {
        vec3 offset = x - position[j];
        ++candidates;
        if (j != i && dot(offset, offset) < radius_m * radius_m) ++hits;
    }
    found[i] = uvec2(candidates, hits);
}
