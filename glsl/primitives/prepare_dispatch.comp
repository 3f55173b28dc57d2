#version 460
// Converts a device count into indirect dispatch arguments, one row for each possible tile size: a tile is
// the number of elements of a workgroup, a power of two from 1 to 2^15, and row k is for tiles of 2^k
// elements.
//
// Inputs: count[0]. Outputs: args[16], groups folded over x and y. Bytes: 4 read, 192 written.
// Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/dispatch.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) writeonly buffer Args { uvec3 args[]; };
layout(scalar, push_constant) uniform Params { uint max_groups_x; };

void main() {
    uint row = thread_idx();
    if (row >= 16u) return;
    args[row] = dispatch_of(count[0], row, max_groups_x);
}
