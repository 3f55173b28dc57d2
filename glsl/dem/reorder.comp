#version 460
// The step's one permutation: moves what is read of other grains to the order of their cells, moved[i] = column[order[i]]. What contacts
// remember is read by its own grain alone, and stays where it is until the pass that renews it.
//
// Bytes: 4 + 8 (3 + 3 + 3 + 1 + 1) a grain. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) readonly buffer Spin { vec3 spin[]; };
layout(scalar, binding = 5) readonly buffer Radius { float radius[]; };
layout(scalar, binding = 6) readonly buffer Id { uint id[]; };
layout(scalar, binding = 7) writeonly buffer MovedPosition { vec3 moved_position[]; };
layout(scalar, binding = 8) writeonly buffer MovedVelocity { vec3 moved_velocity[]; };
layout(scalar, binding = 9) writeonly buffer MovedSpin { vec3 moved_spin[]; };
layout(scalar, binding = 10) writeonly buffer MovedRadius { float moved_radius[]; };
layout(scalar, binding = 11) writeonly buffer MovedId { uint moved_id[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint from = order[i];
    moved_position[i] = position[from];
    moved_velocity[i] = velocity[from];
    moved_spin[i] = spin[from];
    moved_radius[i] = radius[from];
    moved_id[i] = id[from];
}
