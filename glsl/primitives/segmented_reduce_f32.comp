#version 460
// Reduces segments of f32 that lie in one tile, and the parts of those that do not, to sums (u32 wrapping),
// minima or maxima: the first pass of the segmented reduction. Bytes: 4 an element, 4 a segment read and
// written. Order-dependent sums in a fixed order.
// Elements: segment_start = count, reduced = count.
// Elements: head_partial = threads / TILE, tail_partial = threads / TILE.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

#define ELEMENT float

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;
// 0 sum, 1 minimum, 2 maximum.
layout(constant_id = 2) const uint OPERATION = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer SegmentStart { uint segment_start[]; };
layout(scalar, binding = 2) readonly buffer Values { ELEMENT values[]; };
layout(scalar, binding = 3) writeonly buffer Reduced { ELEMENT reduced[]; };
layout(scalar, binding = 4) writeonly buffer HeadPartial { ELEMENT head_partial[]; };
layout(scalar, binding = 5) writeonly buffer TailPartial { ELEMENT tail_partial[]; };
layout(scalar, push_constant) uniform Params {
    // Result for an empty segment.
    ELEMENT neutral;
};

ELEMENT combine(ELEMENT a, ELEMENT b) { return OPERATION == 0u ? a + b : OPERATION == 1u ? min(a, b) : max(a, b); }

#include "primitives/segments.glsl"
#include "primitives/segmented_reduce.glsl"
