#version 460
// Begins a step: advances the clock. One thread.
//
// Bytes: 8. Order-independent.
// Elements: clock = threads.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) buffer Clock { StepClock clock[]; };

void main() {
    if (thread_idx() == 0u) clock[0].step += 1u;
}
