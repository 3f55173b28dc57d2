#version 460
// Computes the single permutation of a phase per step, after migration and sort: source[i] =
// origin[order[i]]. α moves with its particle, and is 0 for one that has just changed phase.
//
// Bytes: 20 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) readonly buffer Origin { uint origin[]; };
layout(scalar, binding = 3) readonly buffer Blend { float blend[]; };
layout(scalar, binding = 4) writeonly buffer Source { uint source[]; };
layout(scalar, binding = 5) writeonly buffer MovedBlend { float moved_blend[]; };
layout(scalar, push_constant) uniform Params { uint capacity; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint from = origin[order[i]];
    source[i] = from;
    moved_blend[i] = from < capacity ? blend[from] : 0.0;
}
