#version 460
// Reduces each tile of an array of f32 to one value: sums, minima or maxima; one entry per workgroup.
//
// A thread takes ITEMS_PER_THREAD elements WORKGROUP_SIZE apart, in order, then the group combines as a tree
// of halves: the order of additions depends on the group size and the length alone, so the same array gives
// the same bits with any subgroup size.
// Bytes: 4 an element. Order-dependent sums in a fixed order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/length.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;
// 0 sum, 1 minimum, 2 maximum.
layout(constant_id = 2) const uint OPERATION = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Values { float values[]; };
layout(scalar, binding = 2) writeonly buffer Reduced { float reduced[]; };
layout(scalar, push_constant) uniform Params {
    Length extent;
    // Result for an empty array.
    float neutral;
};

shared float tree[WORKGROUP_SIZE];

float combine(float a, float b) { return OPERATION == 0u ? a + b : OPERATION == 1u ? min(a, b) : max(a, b); }

void main() {
    uint n = length_of(extent, count[0]);
    uint lane = gl_LocalInvocationIndex;
    uint begin = group_idx() * WORKGROUP_SIZE * ITEMS_PER_THREAD + lane;
    float own = neutral;
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = begin + item * WORKGROUP_SIZE;
        if (i < n) own = combine(own, values[i]);
    }
    tree[lane] = own;
    for (uint stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        barrier();
        if (lane < stride) tree[lane] = combine(tree[lane], tree[lane + stride]);
    }
    if (lane == 0u && group_idx() < reduced.length()) reduced[group_idx()] = tree[0];
}
