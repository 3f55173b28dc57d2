#version 460
// Removes the particles that fill_drained.comp has left at the end. One thread.
//
// Bytes: 16. Order-independent.
// Elements: args = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/dispatch.glsl"
#include "sources/sources.glsl"

layout(scalar, binding = 0) buffer Count { uint count[]; };
layout(scalar, binding = 1) writeonly buffer Args { uvec3 args[]; };
layout(scalar, binding = 2) readonly buffer RemovedCount { uint removed_count[]; };
layout(scalar, binding = 3) buffer Counts { Emission emission[]; };
layout(scalar, push_constant) uniform Params { uint max_groups_x; };

void main() {
    if (thread_idx() != 0u) return;
    uint k = removed_count[0];
    if (k == 0u) return;
    emission[0].n_drained += k;
    uint n = count[0] - k;
    count[0] = n;
    [[dont_unroll]] for (uint row = 0u; row < 16u; ++row) args[row] = dispatch_of(n, row, max_groups_x);
}
