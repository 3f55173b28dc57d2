#version 460
// Marks that a particle of one of two phases is farther from where its neighbours were listed than half the
// skin, in a flag of the rows of both (neighbour_rows.glsl): passes that read this flag search the cells.
//
// Bytes: 28 a particle (x* 12, listed 12, count 4). Order-independent.
// Elements: rows = 0, other_rows = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/neighbour_rows.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 2) readonly buffer Listed { vec3 listed[]; };
layout(scalar, binding = 3) buffer Rows { uint rows[]; };
layout(scalar, binding = 4) buffer OtherRows { uint other_rows[]; };
layout(scalar, push_constant) uniform Params {
    float inverse_h;
    // Square of the distance in h by which a particle may move.
    float max_moved_q2;
    uint flag;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (is_beyond_skin(predicted[i], listed[i], inverse_h, max_moved_q2)) {
        atomicMax(rows[flag], 1u);
        atomicMax(other_rows[flag], 1u);
    }
}
