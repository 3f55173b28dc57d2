#version 460
// One component of a wider column as a column of its own, to colour by: picked[i] = source[stride i + component] − origin.
//
// Bytes: 8 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Source { float source[]; };
layout(scalar, binding = 2) writeonly buffer Picked { float picked[]; };
layout(scalar, push_constant) uniform Params {
    uint stride;
    uint component;
    float origin;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    picked[i] = source[stride * i + component] - origin;
}
