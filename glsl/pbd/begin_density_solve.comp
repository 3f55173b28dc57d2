#version 460
// Begins the density solve of a step: all particles are active, and each gets a share of the multiplier that
// it had at the end of the last step as its first increment (the warm start of Bender & Koschier 2015):
//   Δλ_i = share λ_i, λ_i ← 0; solve_positions applies and adds up the increments.
//
// Bytes: 36 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 2) buffer Multiplier { float multiplier[]; };
layout(scalar, binding = 3) writeonly buffer Constraint { vec4 constraint[]; };
layout(scalar, push_constant) uniform Params { float share; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    constraint[i] = vec4(predicted[i], share * multiplier[i]);
    multiplier[i] = 0.0;
}
