#version 460
// Permutes the grains once per step: packs the data read by other grains in the order of their cells
// (dem/grain.glsl), and moves the columns that the step leaves unchanged, moved[i] = column[order[i]].
// Contact histories are read by their own grain alone, and stay in place until the pass that renews them: a
// grain keeps the range of its rows.
//
// Bytes: 12 + 44 read, 60 written a grain. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "dem/grain.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) readonly buffer Spin { vec3 spin[]; };
layout(scalar, binding = 5) readonly buffer Radius { float radius[]; };
layout(scalar, binding = 6) readonly buffer Id { uint id[]; };
// First rows of the previous step: a grain's rows end where those of the next one start.
layout(scalar, binding = 7) readonly buffer OldFirstRow { uint old_first_row[]; };
layout(scalar, binding = 8) writeonly buffer MovedRadius { float moved_radius[]; };
layout(scalar, binding = 9) writeonly buffer MovedId { uint moved_id[]; };
layout(scalar, binding = 10) writeonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 11) writeonly buffer Motion { GrainMotion motion[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint from = order[i];
    float r = radius[from];
    uint own_id = id[from];
    sphere[i] = vec4(position[from], r);
    uint old_row = old_first_row[from];
    motion[i] = GrainMotion(velocity[from], own_id, spin[from], old_row, old_first_row[from + 1u]);
    moved_radius[i] = r;
    moved_id[i] = own_id;
}
