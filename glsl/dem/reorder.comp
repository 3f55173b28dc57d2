#version 460
// Permutes the grains when contact lists are built: packs the data read by other grains in the order of their
// cells (dem/grain.glsl), from columns in the order of ids, and stores the index of each id.
//
// Bytes: 56 read, 60 written a grain. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "dem/grain.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) readonly buffer Spin { vec3 spin[]; };
layout(scalar, binding = 5) readonly buffer Radius { float radius[]; };
layout(scalar, binding = 6) writeonly buffer Place { uint place[]; };
layout(scalar, binding = 7) writeonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 8) writeonly buffer Motion { GrainMotion motion[]; };
layout(scalar, binding = 9) readonly buffer Residual { vec3 residual_m[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint id = order[i];
    sphere[i] = vec4(position[id], radius[id]);
    motion[i] = GrainMotion(velocity[id], id, spin[id], residual_m[id]);
    place[id] = i;
}
