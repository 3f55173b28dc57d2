#version 460
// Fills empty segments with the operation's neutral element, given as bits: the last pass of a segmented
// reduction.
// Bytes: 4 a segment read, 4 an empty one written. Order-independent.
// Elements: reduced = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer SegmentStart { uint segment_start[]; };
layout(scalar, binding = 2) writeonly buffer Reduced { uint reduced[]; };
layout(scalar, push_constant) uniform Params { uint neutral_bits; };

void main() {
    uint segment = thread_idx();
    if (segment < count[0] && segment_start[segment] == segment_start[segment + 1u]) reduced[segment] = neutral_bits;
}
