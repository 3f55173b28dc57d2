#version 460
// Computes the polar decompositions M = R S of an array of 2×2 matrices; contract and methods are in
// linalg/polar.glsl.
//
// Bytes: 48 a matrix. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "linalg/polar.glsl"

// Method: 0 through the singular values, 1 directly.
layout(constant_id = 1) const uint METHOD = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Matrix { mat2 matrix[]; };
layout(scalar, binding = 2) writeonly buffer R { mat2 r[]; };
layout(scalar, binding = 3) writeonly buffer S { mat2 s[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    mat2 rotation, stretch;
    if (METHOD == POLAR_SVD) polar2_svd(matrix[i], rotation, stretch);
    else polar2(matrix[i], rotation, stretch);
    r[i] = rotation;
    s[i] = stretch;
}
