#version 460
// Marks the particles that begin a step in a drain: flags[i] is 1 for them, else 0; none in a step that
// changes nothing.
//
// Bytes: 16 a particle. Order-independent.
// Elements: drain = all, clock = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "sources/sources.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 2) readonly buffer Drains { Drain drain[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) writeonly buffer Flags { uint flags[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = position[i];
    bool is_drained = false;
    [[dont_unroll]] for (uint d = 0u; d < drain.length(); ++d) is_drained = is_drained || drains(drain[d], x);
    flags[i] = uint(is_drained && !is_frozen(clock[0]));
}
