#version 460
// Moves particles by the impulse Δ = v − u of the implicit viscosity of a step, x* ← x* + Δt Δ, and keeps it
// as the start of the next solve.
//
// Positions thus move by the velocity that viscosity leaves, as they do with one that is explicit. Were they
// to move by u, which gravity has accelerated, fluid held by viscosity would move by Δt g faster than it
// flows.
//
// Bytes: 72 a particle. Order-independent.
// Elements: rows = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/neighbour_rows.glsl"
#include "pbd/walls.glsl"

layout(constant_id = 1) const uint HAS_ROWS = 0;
// Periodic axes, a bit each.
layout(constant_id = 2) const uint PERIODIC = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 2) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) writeonly buffer Impulse { vec3 impulse[]; };
layout(scalar, binding = 4) buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 5) readonly buffer Listed { vec3 listed[]; };
layout(scalar, binding = 6) buffer Rows { uint rows[]; };
layout(scalar, push_constant) uniform Params {
    Walls walls;
    float dt_s;
    float inverse_h;
    float max_moved_q2;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 change = velocity[i] - updated[i];
    impulse[i] = change;
    // Fed particles have none, and stay where the feed has moved them.
    if (change == vec3(0.0)) return;
    vec3 x = confine(walls, PERIODIC, predicted[i] + dt_s * change);
    predicted[i] = x;
    if (HAS_ROWS != 0u && is_beyond_skin(x, listed[i], inverse_h, max_moved_q2))
        atomicMax(rows[MOVED_IN_STEP], 1u);
}
