#version 460
// Ends a step: counts it, and records its fault if it is the first one. One thread.
//
// Bytes: 48. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "viscoelastic/fault.glsl"

layout(scalar, binding = 0) readonly buffer Id { uint id[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 3) buffer FaultyParticle { uint faulty_particle[]; };
layout(scalar, binding = 4) buffer Steps { uint steps[]; };
layout(scalar, binding = 5) buffer Fault { ViscoelasticFault fault[]; };

void main() {
    if (thread_idx() != 0u) return;
    steps[0] += 1u;
    uint i = faulty_particle[0];
    if (i == INVALID_INDEX || fault[0].step != INVALID_INDEX) return;
    fault[0] = ViscoelasticFault(steps[0], id[i], position[i], updated[i]);
}
