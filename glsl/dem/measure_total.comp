#version 460
// Merges the parts made by measure into one, with a single workgroup.
//
// Bytes: 104 a part. Order-dependent sums in a fixed order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "dem/metrics.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Parts { DemMetrics parts[]; };
layout(scalar, binding = 2) writeonly buffer Total { DemMetrics total[]; };
layout(scalar, push_constant) uniform Params { uint grains_per_part; };

shared DemMetrics tree[WORKGROUP_SIZE];

void main() {
    uint n = count[0] / grains_per_part + (count[0] % grains_per_part != 0u ? 1u : 0u);
    uint lane = gl_LocalInvocationIndex;
    DemMetrics own = nothing();
    for (uint i = lane; i < n; i += WORKGROUP_SIZE) own = merge(own, parts[i]);
    tree[lane] = own;
    for (uint stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        barrier();
        if (lane < stride) tree[lane] = merge(tree[lane], tree[lane + stride]);
    }
    if (lane == 0u) total[0] = tree[0];
}
