#version 460
// Ends a step: records its fault if it is the first one. One thread.
//
// Bytes: 64. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
#include "mpm/terms.glsl"
#include "mpm/tensors.glsl"
#include "mpm/fault.glsl"
#include "linalg/matrix.glsl"

layout(scalar, binding = 0) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 1) readonly buffer Required { uint blocks_required[]; };
layout(scalar, binding = 2) readonly buffer Key { uint key[]; };
layout(scalar, binding = 3) readonly buffer Id { uint id[]; };
layout(scalar, binding = 4) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 5) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 6) readonly buffer Elastic { float elastic[]; };
layout(scalar, binding = 7) buffer Fault { MpmFault fault[]; };
layout(scalar, push_constant) uniform Params {
    uint step;
    uint block_capacity[2];
};

void main() {
    if (thread_idx() != 0u || fault[0].step != INVALID_INDEX) return;
    bool is_full = blocks_required[0] > block_capacity[0] || blocks_required[1] > block_capacity[1];
    uint p = fault[0].place;
    if (p == INVALID_INDEX && !is_full) return;
    fault[0].step = step;
    fault[0].kind = GRID_FULL;
    if (is_full) return;
    mat3 f = LOAD_MATRIX(elastic, p, 1.0);
    float determinant = dot(f[0], cross(f[1], f[2]));
    fault[0].id = id[p];
    fault[0].key = key[p];
    fault[0].position_m = position[p];
    fault[0].velocity_m_s = velocity[p];
    fault[0].determinant = determinant;
    vec3 moved = abs(terms[0].dt_s * velocity[p]);
    bool is_slow = max(moved.x, max(moved.y, moved.z)) <= terms[0].cell_m;
    fault[0].kind = !is_finite_vector(velocity[p]) ? NODE_NOT_FINITE
                    : !is_finite(magnitude_bits(f)) ? STRAIN_NOT_FINITE
                    : is_slow                       ? INVERTED
                                                    : TOO_FAST;
}
