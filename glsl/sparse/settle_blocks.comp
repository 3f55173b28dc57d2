#version 460
// Stores the length of a list of blocks, clamped to its capacity, with its dispatch arguments, and the
// required length.
//
// Bytes: 4 read, 200 written. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/dispatch.glsl"

layout(scalar, binding = 0) readonly buffer Total { uint total[]; };
layout(scalar, binding = 1) writeonly buffer Settled { uint settled[]; };
layout(scalar, binding = 2) writeonly buffer Args { uvec3 args[]; };
layout(scalar, binding = 3) writeonly buffer Required { uint required[]; };
layout(scalar, push_constant) uniform Params {
    uint capacity;
    uint slot;
    uint max_groups_x;
};

void main() {
    uint row = thread_idx();
    if (row >= 16u) return;
    uint n = min(total[0], capacity);
    args[row] = dispatch_of(n, row, max_groups_x);
    if (row != 0u) return;
    settled[0] = n;
    required[slot] = total[0];
}
