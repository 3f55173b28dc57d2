#version 460
// Stores the grains in columns in the order of their ids, which does not depend on when they were sorted, and
// counts the contacts of each with a history. Bytes: 56 + 8 a grain read, 48 + 4 written, 4 a row read.
// Order-independent.
// Elements: near = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "dem/grain.glsl"
#include "dem/lists.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 2) readonly buffer Motion { GrainMotion motion[]; };
layout(scalar, binding = 3) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 4) readonly buffer Near { uint near[]; };
layout(scalar, binding = 5) writeonly buffer Position { vec3 position[]; };
layout(scalar, binding = 6) writeonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 7) writeonly buffer Spin { vec3 spin[]; };
layout(scalar, binding = 8) writeonly buffer RowCount { uint row_count[]; };
layout(scalar, binding = 9) writeonly buffer Residual { vec3 residual_m[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    GrainMotion own = motion[i];
    position[own.id] = sphere[i].xyz;
    velocity[own.id] = own.velocity_m_s;
    spin[own.id] = own.spin_1_s;
    residual_m[own.id] = own.residual_m;
    uint end = min(first_row[i + 1u], near.length());
    uint n_kept = 0u;
    [[dont_unroll]] for (uint row = first_row[i]; row < end; ++row) n_kept += near[row] >> 29u & 1u;
    row_count[own.id] = n_kept;
}
