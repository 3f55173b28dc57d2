#version 460
// Scans an array in a single pass, like scan_look_back, with sums over the workgroup by operations of
// subgroups: the same bits, since they are sums of integers.
//
// Barriers of a tile of 256 threads that finds the sum before it within one window: 8, scan_look_back has 17.
// Exclusive: scanned[i] = values[0] + … + values[i−1], wrapping; inclusive: with values[i].
// Bytes: 8 an element and 8 a tile. Order-independent: integer sums, regardless of which group sums a tile.
// Elements: values = count / extent.divisor * extent.multiplier / extent.shrink.
// Elements: scanned = count / extent.divisor * extent.multiplier / extent.shrink.
// Elements: look_back = count / extent.divisor * extent.multiplier / extent.shrink / TILE.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/elements.glsl"
#include "primitives/length.glsl"
#include "primitives/subgroup_scan.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Values { uint values[]; };
layout(scalar, binding = 2) coherent buffer LookBack { uint look_back[]; };
layout(scalar, binding = 3) writeonly buffer Scanned { uint scanned[]; };
layout(scalar, binding = 4) writeonly buffer Total { uint total[]; };
// Set to 1 if a fixed-point element or sum does not fit.
layout(scalar, push_constant) uniform Params { Length extent; };

#include "primitives/scan_look_back.glsl"
