#version 460
// Sums the squared strain over a particle's links, (|x_ij|/l − 1)². Every link is counted at both ends.
//
// Bytes: 20 + 20 · links a particle. Sums run in the order of slots.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 3) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 4) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 5) writeonly buffer Strain2 { float strain2[]; };
layout(scalar, push_constant) uniform Params { uint link_stride; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    float sum = 0.0;
    for (uint slot = 0u; slot < degree[i]; ++slot) {
        uint at = slot * link_stride + i;
        float strain = distance(position[i], position[partner[at]]) / rest_length_m[at] - 1.0;
        sum += strain * strain;
    }
    strain2[i] = sum;
}
