#version 460
// What has acted on each body in the step: force, torque and impulse from the sums of momentum; then sums begin anew, and the step is counted. One
// thread a body.
//
// Bytes: 176 a body. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/body_terms.glsl"
#include "pbd/load.glsl"

layout(scalar, binding = 0) readonly buffer Terms { BodyTerms terms[]; };
layout(scalar, binding = 1) buffer Steps { uint steps[]; };
layout(scalar, binding = 2) buffer Sums { uint sums[]; };
layout(scalar, binding = 3) buffer Loads { BodyLoad loads[]; };
#include "common/fixed.glsl"

vec3 vector_sum(uint first) { return vec3(fixed_sum(first), fixed_sum(first + 1u), fixed_sum(first + 2u)); }

void main() {
    uint k = thread_idx();
    BodyTerms t = terms[0];
    if (k >= t.n_bodies) return;
    vec3 impulse = vector_sum(6u * k) / t.quanta_per_n_s;
    vec3 angular_impulse = vector_sum(6u * k + 3u) / t.quanta_per_n_s;
    [[unroll]] for (uint word = 0u; word < 12u; ++word) sums[12u * k + word] = 0u;
    BodyLoad load = loads[k];
    load.force_n = impulse / t.dt_s;
    load.peak_n = max(load.peak_n, sqrt(dot(load.force_n, load.force_n)));
    load.torque_n_m = angular_impulse / t.dt_s;
    add_rounded(load.impulse_n_s, load.impulse_rounding_n_s, impulse);
    add_rounded(load.angular_impulse_n_m_s, load.angular_rounding_n_m_s, angular_impulse);
    loads[k] = load;
    if (k == 0u) steps[0] += 1u;
}
