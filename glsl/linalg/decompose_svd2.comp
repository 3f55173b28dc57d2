#version 460
// Computes the singular value decompositions M = U diag(σ) Vᵀ of an array of 2×2 matrices; contract and
// method are in linalg/svd.glsl.
//
// Bytes: 56 a matrix. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "linalg/svd.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Matrix { mat2 matrix[]; };
layout(scalar, binding = 2) writeonly buffer U { mat2 u[]; };
layout(scalar, binding = 3) writeonly buffer Sigma { vec2 sigma[]; };
layout(scalar, binding = 4) writeonly buffer V { mat2 v[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    mat2 left, right;
    vec2 values;
    svd2(matrix[i], left, values, right);
    u[i] = left;
    sigma[i] = values;
    v[i] = right;
}
