#version 460
// The second half of reduce-then-scan: scans each tile and adds what all tiles before it sum to.
//
// Exclusive: scanned[i] = values[0] + … + values[i−1], wrapping. base[g] is the sum of all tiles before tile g.
// Elements pass through shared memory, so that global reads and writes are coalesced though a thread scans consecutive ones.
// Bytes: 8 an element. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/length.glsl"
#include "primitives/workgroup_scan.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;
// 1: every element other than 0 counts as 1.
layout(constant_id = 2) const uint AS_FLAGS = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Values { uint values[]; };
layout(scalar, binding = 2) readonly buffer Base { uint base[]; };
layout(scalar, binding = 3) writeonly buffer Scanned { uint scanned[]; };
layout(scalar, binding = 4) writeonly buffer Total { uint total[]; };
layout(scalar, push_constant) uniform Params { Length extent; };

shared uint tile[WORKGROUP_SIZE * ITEMS_PER_THREAD];

void main() {
    uint n = length_of(extent, count[0]);
    uint lane = gl_LocalInvocationIndex;
    uint begin = group_idx() * WORKGROUP_SIZE * ITEMS_PER_THREAD;
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        uint value = begin + place < n ? values[begin + place] : 0u;
        tile[place] = AS_FLAGS != 0u ? min(value, 1u) : value;
    }
    barrier();
    uint own = 0u;
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) own += tile[lane * ITEMS_PER_THREAD + item];
    uint before = workgroup_exclusive_scan(own).x + (group_idx() < base.length() ? base[group_idx()] : 0u);
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint value = tile[lane * ITEMS_PER_THREAD + item];
        tile[lane * ITEMS_PER_THREAD + item] = before;
        before += value;
        if (begin + lane * ITEMS_PER_THREAD + item + 1u == n) total[0] = before;
    }
    if (n == 0u && group_idx() == 0u && lane == 0u) total[0] = 0u;
    barrier();
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        if (begin + place < n) scanned[begin + place] = tile[place];
    }
}
