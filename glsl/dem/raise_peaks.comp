#version 460
// Raises the peaks of the map cell under each grain to the sums of this step: the volume over it, and the
// mean speed by volume; and notes the first step with a grain over it.
//
// Peaks are floats that are not negative, compared by their bits. Bytes: 44 a grain. Order-independent.
// Elements: clock = 0, sums = threads * MAP_WORDS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"
#include "dem/map.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 2) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 3) buffer Sums { uint sums[]; };
layout(scalar, binding = 4) buffer PeakVolume { uint peak_volume[]; };
layout(scalar, binding = 5) buffer PeakSpeed { uint peak_speed[]; };
layout(scalar, binding = 6) buffer FirstStep { uint first_step[]; };
layout(scalar, push_constant) uniform Params {
    uvec2 n_cells;
    float cells_per_m;
    float m3_per_quantum;
};

#include "common/fixed.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (has_fault(clock[0])) return;
    uint cell = map_cell(sphere[i].xyz, cells_per_m, n_cells);
    if (cell == INVALID_INDEX) return;
    float volume = fixed_sum(2u * cell);
    float speed_m_s = volume > 0.0 ? fixed_sum(2u * cell + 1u) / volume : 0.0;
    uint volume_bits = floatBitsToUint(volume * m3_per_quantum);
    uint speed_bits = floatBitsToUint(speed_m_s);
    // Most steps raise no peak. An older value read here only costs an atomic operation.
    if (volume_bits > peak_volume[cell]) atomicMax(peak_volume[cell], volume_bits);
    if (speed_bits > peak_speed[cell]) atomicMax(peak_speed[cell], speed_bits);
    if (clock[0].step < first_step[cell]) atomicMin(first_step[cell], clock[0].step);
}
