#version 460
// Begins a substep: advances the clock. One thread.
//
// Bytes: 56. Order-independent.
// Elements: clock = threads.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) buffer Clock { StepClock clock[]; };
layout(push_constant) uniform Params {
    // Number of substeps, if a step begins.
    uint n_substeps;
};

void main() {
    if (thread_idx() != 0u) return;
    StepClock now = clock[0];
    advance(now, n_substeps);
    clock[0] = now;
}
