#version 460
// Scans each tile and adds the sum of all tiles before it: the second half of reduce-then-scan.
//
// Exclusive: scanned[i] = values[0] + … + values[i−1], wrapping; inclusive: with values[i]. base[g] is the
// sum of all tiles before tile g. Bytes: 8 an element. Order-independent: integer sums.
// Elements: values = count / extent.divisor * extent.multiplier / extent.shrink.
// Elements: scanned = count / extent.divisor * extent.multiplier / extent.shrink.
// Elements: base = count / extent.divisor * extent.multiplier / extent.shrink / TILE.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/elements.glsl"
#include "primitives/length.glsl"
#include "primitives/workgroup_scan.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Values { uint values[]; };
layout(scalar, binding = 2) readonly buffer Base { uint base[]; };
layout(scalar, binding = 3) writeonly buffer Scanned { uint scanned[]; };
layout(scalar, binding = 4) writeonly buffer Total { uint total[]; };
// Set to 1 if a fixed-point element or sum does not fit.
layout(scalar, push_constant) uniform Params { Length extent; };

#include "primitives/scan_tile.glsl"

void main() {
    uint n = length_of(extent, count[0]);
    uint begin = group_idx() * TILE;
    // Groups past the last tile, of a folded dispatch, store nothing.
    uint base_sum = group_idx() < base.length() ? base[group_idx()] : 0u;
    store_tile(begin, n, base_sum + load_tile(begin, n).x);
    if (n == 0u && thread_idx() == 0u) total[0] = 0u;
}
