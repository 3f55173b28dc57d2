#version 460
// Reduces the sums of momentum to the load on each body in the step: force, torque and impulse. One thread a
// body.
//
// Resets the sums to 0 for the next step, and counts the step. Bytes: 176 a body. Order-independent.
// Elements: sums = threads * WRENCH_WORDS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/body_load.glsl"

layout(scalar, binding = 0) buffer Steps { uint steps[]; };
layout(scalar, binding = 1) buffer Sums { uint sums[]; };
layout(scalar, binding = 2) buffer Loads { BodyLoad loads[]; };
layout(scalar, push_constant) uniform Params {
    uint n_bodies;
    float dt_s;
    // Quanta of the sums per N s.
    float quanta_per_n_s;
};
#include "common/fixed.glsl"

vec3 vector_sum(uint first) { return vec3(fixed_sum(first), fixed_sum(first + 1u), fixed_sum(first + 2u)); }

void main() {
    uint k = thread_idx();
    if (k >= n_bodies) return;
    vec3 impulse = vector_sum(6u * k) / quanta_per_n_s;
    vec3 angular_impulse = vector_sum(6u * k + 3u) / quanta_per_n_s;
    [[unroll]] for (uint word = 0u; word < WRENCH_WORDS; ++word) sums[WRENCH_WORDS * k + word] = 0u;
    BodyLoad load = loads[k];
    load.force_n = impulse / dt_s;
    load.peak_n = max(load.peak_n, sqrt(dot(load.force_n, load.force_n)));
    load.torque_n_m = angular_impulse / dt_s;
    add_compensated(load.impulse_n_s, load.impulse_rounding_n_s, impulse);
    add_compensated(load.angular_impulse_n_m_s, load.angular_rounding_n_m_s, angular_impulse);
    loads[k] = load;
    if (k == 0u) steps[0] += 1u;
}
