#version 460
// Begins a substep, once the blocks of its particles are known: advances the clock unless an earlier pass
// has. One that needs more blocks than there is space for is a fault, and is held: it changes no particle.
// One thread.
//
// Bytes: 72. Order-independent.
// Elements: clock = threads, blocks_required = 2.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) buffer Clock { StepClock clock[]; };
layout(scalar, binding = 1) readonly buffer Required { uint blocks_required[]; };
layout(scalar, push_constant) uniform Params {
    // 1 to advance the clock, 0 if an earlier pass has.
    uint advances;
    // Number of substeps, if a step begins.
    uint n_substeps;
    // Capacity in occupied and in active blocks.
    uint block_capacity[2];
};

void main() {
    if (thread_idx() != 0u) return;
    if (advances != 0u) {
        StepClock now = clock[0];
        advance(now, n_substeps);
        clock[0] = now;
    }
    if (blocks_required[0] <= block_capacity[0] && blocks_required[1] <= block_capacity[1]) return;
    RECORD_FAULT_STEP();
    HOLD_SUBSTEP();
}
