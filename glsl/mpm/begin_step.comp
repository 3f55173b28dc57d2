#version 460
// Begins a step, once the blocks of its particles are known: advances the clock unless an earlier pass has. A
// step that needs more blocks than there is space for is a fault, and is held: it changes no particle. One
// thread.
//
// Bytes: 20. Order-independent.
// Elements: clock = threads, blocks_required = 2.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) buffer Clock { StepClock clock[]; };
layout(scalar, binding = 1) readonly buffer Required { uint blocks_required[]; };
layout(scalar, push_constant) uniform Params {
    // 1 to advance the clock, 0 if an earlier pass has.
    uint advance;
    // Capacity in occupied and in active blocks.
    uint block_capacity[2];
};

void main() {
    if (thread_idx() != 0u) return;
    clock[0].step += advance;
    if (blocks_required[0] <= block_capacity[0] && blocks_required[1] <= block_capacity[1]) return;
    RECORD_FAULT_STEP();
    clock[0].is_held = 1u;
}
