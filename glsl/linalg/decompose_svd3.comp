#version 460
// Computes the singular value decompositions M = U diag(σ) Vᵀ of an array of 3×3 matrices; contract and
// method are in linalg/svd.glsl.
//
// Bytes: 120 a matrix. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "linalg/svd.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Matrix { mat3 matrix[]; };
layout(scalar, binding = 2) writeonly buffer U { mat3 u[]; };
layout(scalar, binding = 3) writeonly buffer Sigma { vec3 sigma[]; };
layout(scalar, binding = 4) writeonly buffer V { mat3 v[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    mat3 left, right;
    vec3 values;
    svd3(matrix[i], left, values, right);
    u[i] = left;
    sigma[i] = values;
    v[i] = right;
}
