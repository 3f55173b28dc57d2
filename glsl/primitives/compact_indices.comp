#version 460
// The last step of stream compaction: kept[place[i]] = i for every i whose flag is not 0, in order.
//
// place is the exclusive scan of the flags as 0 or 1. Bytes: 8 read an element, 4 written a kept one. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Flags { uint flags[]; };
layout(scalar, binding = 2) readonly buffer Place { uint place[]; };
layout(scalar, binding = 3) writeonly buffer Kept { uint kept[]; };

void main() {
    uint i = thread_idx();
    if (i < count[0] && flags[i] != 0u) kept[place[i]] = i;
}
