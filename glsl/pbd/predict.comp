#version 460
// Computes predicted positions x* = confine(x + Δt v), in the sorted order; Chen2021 fig 5.1b. With
// IS_COMPENSATED starts the compensated sum of the step's corrections (solve_positions.comp).
//
// Bytes: 36 a particle, 48 with IS_COMPENSATED. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/walls.glsl"

// Periodic axes, a bit each.
layout(constant_id = 1) const uint PERIODIC = 0;
layout(constant_id = 2) const uint IS_COMPENSATED = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) writeonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) writeonly buffer Compensation { vec3 compensation[]; };
layout(scalar, push_constant) uniform Params {
    Walls walls;
    float dt_s;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    // Precise: update_velocity repeats this arithmetic and must get the same bits.
    precise vec3 step_m = dt_s * velocity[i];
    precise vec3 unconstrained = position[i] + step_m;
    predicted[i] = confine(walls, PERIODIC, unconstrained);
    if (IS_COMPENSATED != 0u) compensation[i] = vec3(0.0);
}
