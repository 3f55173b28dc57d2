#version 460
// Reduces the segments of u32 that span tiles: the second pass of the segmented reduction. Bytes: 8 a tile.
// Order-independent: integer operations are associative.
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
    // Result for an empty segment.
    ELEMENT neutral;
    // Number of elements per group of the first pass.
    uint tile_size;
};

ELEMENT combine(ELEMENT a, ELEMENT b) { return OPERATION == 0u ? a + b : OPERATION == 1u ? min(a, b) : max(a, b); }

#include "primitives/segments.glsl"
#include "primitives/segmented_finish.glsl"
