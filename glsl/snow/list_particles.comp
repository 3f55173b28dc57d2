#version 460
// Lists all particles of both phases, solids first, for rendering and output as one set: the source of each,
// in the form of gather_phases, and its phase (1 solid, 0 fluid).
//
// Bytes: 8 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Solids { uint solids[]; };
layout(scalar, binding = 2) writeonly buffer Source { uint source[]; };
layout(scalar, binding = 3) writeonly buffer Phase { uint phase[]; };
layout(scalar, push_constant) uniform Params { uint capacity; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    bool is_solid = i < solids[0];
    source[i] = is_solid ? i : capacity + i - solids[0];
    phase[i] = is_solid ? 1u : 0u;
}
