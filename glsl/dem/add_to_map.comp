#version 460
// Adds the volume of each grain, and its volume times its speed, to the map cell under its centre: the first
// of three passes that map a step. A step with a fault, and those after it, are not mapped.
//
// Bytes: 44 a grain. Order-independent: sums of integers.
// Elements: clock = 0, sums = threads * MAP_WORDS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"
#include "dem/grain.glsl"
#include "dem/map.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 2) readonly buffer Motion { GrainMotion motion[]; };
layout(scalar, binding = 3) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 4) buffer Sums { uint sums[]; };
layout(scalar, push_constant) uniform Params {
    uvec2 n_cells;
    float cells_per_m;
    float quanta_per_m3;
};

#include "common/fixed.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (has_fault(clock[0])) return;
    vec4 own = sphere[i];
    uint cell = map_cell(own.xyz, cells_per_m, n_cells);
    if (cell == INVALID_INDEX) return;
    vec3 v = motion[i].velocity_m_s;
    float quanta = BALL_VOLUME * own.w * own.w * own.w * quanta_per_m3;
    add_fixed(2u * cell, quanta);
    add_fixed(2u * cell + 1u, quanta * sqrt(dot(v, v)));
}
