#version 460
// Reduces the sums of momentum to the load on each body in the step: force, torque and impulse. One thread a
// named body.
//
// Resets the sums to 0 for the next step. Bytes: 176 a body. Order-independent.
// Elements: sums = threads * WRENCH_WORDS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/body_load.glsl"

layout(scalar, binding = 0) buffer Sums { uint sums[]; };
layout(scalar, binding = 1) buffer Loads { BodyLoad loads[]; };
layout(scalar, push_constant) uniform Params {
    uint n_bodies;
    float dt_s;
    // Quanta of the sums per N s.
    float quanta_per_n_s;
};
#include "common/fixed.glsl"

void main() {
    uint k = thread_idx();
    if (k >= n_bodies) return;
    vec3 impulse = force_sum(k) / quanta_per_n_s;
    vec3 angular_impulse = torque_sum(k) / quanta_per_n_s;
    clear_wrench(k);
    BodyLoad load = loads[k];
    add_step(load, impulse / dt_s, angular_impulse / dt_s, impulse, angular_impulse);
    loads[k] = load;
}
