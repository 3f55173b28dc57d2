#version 460
// Takes over the length of a list of blocks, no more than there is room for, and keeps the length that was asked for.
//
// Bytes: 12. One thread.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Total { uint total[]; };
layout(scalar, binding = 1) writeonly buffer Settled { uint settled[]; };
layout(scalar, binding = 2) writeonly buffer Wanted { uint wanted[]; };
layout(scalar, push_constant) uniform Params {
    uint capacity;
    uint slot;
};

void main() {
    if (thread_idx() != 0u) return;
    settled[0] = min(total[0], capacity);
    wanted[slot] = total[0];
}
