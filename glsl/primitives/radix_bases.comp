#version 460
// Computes the start of each digit's keys in the result of each pass: the exclusive scan of each row of the
// histogram, one group per row.
//
// Needs groups of 256 threads, one per digit. Bytes: 2048 a pass. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/workgroup_scan.glsl"

layout(scalar, binding = 0) readonly buffer Histogram { uint histogram[]; };
layout(scalar, binding = 1) writeonly buffer Bases { uint bases[]; };

void main() {
    uint k = thread_idx();
    uint before = workgroup_exclusive_scan(k < histogram.length() ? histogram[k] : 0u).x;
    if (k < bases.length()) bases[k] = before;
}
