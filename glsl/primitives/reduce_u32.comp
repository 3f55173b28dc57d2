#version 460
// Reduces each tile of an array of u32 (or of flags, or of f32 in fixed point) to one value: sums (wrapping),
// minima or maxima; one entry per workgroup.
//
// A thread takes ITEMS_PER_THREAD elements WORKGROUP_SIZE apart (coalesced), then the group combines as a
// tree. Bytes: 4 an element. Order-independent: integer sums, minima and maxima are associative and
// commutative.
// Elements: values = count / extent.divisor * extent.multiplier / extent.shrink.
// Elements: reduced = count / extent.divisor * extent.multiplier / extent.shrink / (WORKGROUP_SIZE * ITEMS_PER_THREAD).
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/elements.glsl"
#include "primitives/length.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;
// 0 sum, 1 minimum, 2 maximum.
layout(constant_id = 2) const uint OPERATION = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Values { uint values[]; };
layout(scalar, binding = 2) writeonly buffer Reduced { uint reduced[]; };
layout(scalar, push_constant) uniform Params {
    Length extent;
    // Result for an empty array.
    uint neutral;
};

shared uint tree[WORKGROUP_SIZE];

uint combine(uint a, uint b) { return OPERATION == 0u ? a + b : OPERATION == 1u ? min(a, b) : max(a, b); }

void main() {
    uint n = length_of(extent, count[0]);
    uint lane = gl_LocalInvocationIndex;
    uint begin = group_idx() * WORKGROUP_SIZE * ITEMS_PER_THREAD + lane;
    uint own = neutral;
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = begin + item * WORKGROUP_SIZE;
        if (i < n) own = combine(own, element(values[i]));
    }
    tree[lane] = own;
    for (uint stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        barrier();
        if (lane < stride) tree[lane] = combine(tree[lane], tree[lane + stride]);
    }
    if (lane == 0u && group_idx() < reduced.length()) reduced[group_idx()] = tree[0];
}
