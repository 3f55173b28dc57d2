#version 460
// Updates the particle count of each phase after a migration: n ← n − its leavers + those of the other. One
// thread.
//
// Bytes: 24. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) buffer Solids { uint solids[]; };
layout(scalar, binding = 1) buffer Fluids { uint fluids[]; };
layout(scalar, binding = 2) readonly buffer Melting { uint melting[]; };
layout(scalar, binding = 3) readonly buffer Freezing { uint freezing[]; };

void main() {
    if (thread_idx() != 0u) return;
    solids[0] = solids[0] - melting[0] + freezing[0];
    fluids[0] = fluids[0] - freezing[0] + melting[0];
}
