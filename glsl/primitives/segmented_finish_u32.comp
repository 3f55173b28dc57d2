#version 460
// Second pass of the segmented reduction of u32: segments that span tiles. Bytes: 8 a tile. Order-independent: integer operations are associative.
// Elements: segment_start = threads / WORKGROUP_SIZE, reduced = threads / WORKGROUP_SIZE.
// Elements: head_partial = threads / WORKGROUP_SIZE, tail_partial = threads / WORKGROUP_SIZE.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

#define ELEMENT uint

// 0 sum, 1 minimum, 2 maximum.
layout(constant_id = 2) const uint OPERATION = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer SegmentStart { uint segment_start[]; };
layout(scalar, binding = 2) readonly buffer HeadPartial { ELEMENT head_partial[]; };
layout(scalar, binding = 3) readonly buffer TailPartial { ELEMENT tail_partial[]; };
layout(scalar, binding = 4) writeonly buffer Reduced { ELEMENT reduced[]; };
layout(scalar, push_constant) uniform Params {
    // What an empty segment reduces to.
    ELEMENT neutral;
    // Elements that a group of the first pass takes.
    uint tile_size;
};

ELEMENT combine(ELEMENT a, ELEMENT b) { return OPERATION == 0u ? a + b : OPERATION == 1u ? min(a, b) : max(a, b); }

#include "primitives/segments.glsl"
#include "primitives/segmented_finish.glsl"
