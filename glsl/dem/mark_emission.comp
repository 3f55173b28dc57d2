#version 460
// Has the next substep build contact lists if grains appear before it. One thread.
//
// Bytes: 8. Order-independent.
// Elements: clock = all, emitters = all, emission = all, lists = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"
#include "dem/lists.glsl"
#include "sources/sources.glsl"

layout(scalar, binding = 0) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 1) readonly buffer Emitters { Emitter emitters[]; };
layout(scalar, binding = 2) readonly buffer Counts { Emission emission[]; };
layout(scalar, binding = 3) writeonly buffer Lists { DemLists lists[]; };
#include "sources/new_particles.glsl"

void main() {
    if (thread_idx() != 0u) return;
    StepClock next = clock[0];
    advance(next, 1u);
    if (new_particle_count(next.step) > 0u) lists[0].is_stale = 1u;
}
