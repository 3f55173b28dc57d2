#version 460
// Clears the sums of the map cell under each grain, after the peaks are raised: the work does not depend on
// the size of the map. Bytes: 32 a grain. Order-independent.
// Elements: clock = 0, sums = threads * MAP_WORDS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"
#include "dem/map.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 2) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 3) writeonly buffer Sums { uint sums[]; };
layout(scalar, push_constant) uniform Params {
    uvec2 n_cells;
    float cells_per_m;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (has_fault(clock[0])) return;
    uint cell = map_cell(sphere[i].xyz, cells_per_m, n_cells);
    if (cell == INVALID_INDEX) return;
    [[unroll]] for (uint word = 0u; word < MAP_WORDS; ++word) sums[MAP_WORDS * cell + word] = 0u;
}
