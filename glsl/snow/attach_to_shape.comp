#version 460
// Gives snow without a rest position one in the shape of its first partner that has one: frozen water joins
// the block it froze to. The next step reads `next_rest`.
//
// If neither of two has a rest position, the one with the higher id adopts from the other, so that they do
// not attach to each other. The partner's rotation is the current one of its own neighbourhood.
// Bytes: 40 + 24 · links a particle; those that attach read a partner's neighbourhood, too.
// Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "linalg/polar.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Id { uint id[]; };
layout(scalar, binding = 2) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 3) readonly buffer RestPosition { vec3 rest_position[]; };
layout(scalar, binding = 4) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 5) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 6) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 7) writeonly buffer NextRest { vec3 next_rest[]; };
#include "snow/shape.glsl"
layout(scalar, push_constant) uniform Params { uint link_stride; };

bool has_place(uint i) {
    for (uint slot = 0u; slot < degree[i]; ++slot) {
        uint at = slot * link_stride + i;
        if (is_of_shape(at, rest_position[i], rest_position[partner[at]])) return true;
    }
    return false;
}

mat3 rotation_about(uint i) {
    mat3 moments = mat3(0.0);
    for (uint slot = 0u; slot < degree[i]; ++slot) {
        uint at = slot * link_stride + i;
        uint j = partner[at];
        if (!is_of_shape(at, rest_position[i], rest_position[j])) continue;
        moments += outerProduct(predicted[j] - predicted[i], rest_position[j] - rest_position[i]);
    }
    mat3 rotation, stretch;
    polar3(moments, rotation, stretch);
    return rotation;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 rest = rest_position[i];
    next_rest[i] = rest;
    if (degree[i] == 0u || has_place(i)) return;
    for (uint slot = 0u; slot < degree[i]; ++slot) {
        uint j = partner[slot * link_stride + i];
        bool is_settled = has_place(j);
        if (!is_settled && id[j] > id[i]) continue;
        mat3 back = transpose(rotation_about(j));
        next_rest[i] = rest_position[j] + back * (predicted[i] - predicted[j]);
        return;
    }
}
