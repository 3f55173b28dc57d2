#version 460
// Finds the directions in which bodies and walls hold the nodes while the semi-implicit solve changes
// velocities: a node without velocity away from a surface after step 5 gets none along its normal; a node
// that sticks gets none at all. Without these constraints the solve would use the space behind a surface, and
// add energy to snow at rest. Bytes: 40 a node. Order-independent.
// Elements: clock = 0.
// Elements: momentum = threads * BLOCK_NODES, node_velocity = threads * BLOCK_NODES.
// Elements: held = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
layout(constant_id = 3) const uint BODY_KINDS = 0xe00df;
#include "mpm/terms.glsl"
#include "common/body.glsl"
#include "common/clock.glsl"
#include "mpm/solve.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Active { uint active_block[]; };
layout(scalar, binding = 3) readonly buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 4) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 5) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 6) readonly buffer NodeVelocity { vec3 node_velocity[]; };
layout(scalar, binding = 7) writeonly buffer Held { vec3 held[]; };
layout(scalar, binding = 8) readonly buffer Clock { StepClock clock[]; };

const uint ONLY_STICKY = 0u;
#include "mpm/bodies.glsl"

// Share of a speed that rounding leaves along the normal after its removal.
const float STANDING = 1e-5;

vec3 touch(vec3 holding, vec3 v, vec3 normal, vec3 body_velocity, float friction, bool is_sticky) {
    vec3 relative = v - body_velocity;
    bool is_stuck = is_sticky || (friction > 0.0 && relative == vec3(0.0));
    if (is_stuck) return HELD_FAST;
    return dot(relative, normal) <= STANDING * sqrt(dot(relative, relative)) ? hold(holding, normal)
                                                                             : holding;
}

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (a >= active_count[0]) return;
    MpmTerms t = terms[0];
    float time_s = substep_start_s(clock[0], t.dt_s);
    uint at = a * BLOCK_NODES + n;
    vec3 holding = vec3(0.0);
    if (momentum[at].w > 0.0) {
        vec3 v = node_velocity[at];
        vec3 x = t.lattice.origin_m +
                 t.cell_m * vec3(BLOCK_SIDE * block_place(t.lattice, active_block[a]) + node_place(n));
        for (uint k = 0u; k < t.n_bodies; ++k) {
            Body body = bodies[k];
            Pose pose = pose_of(body, time_s);
            vec4 surface = surface_of(t.up_axis, body, pose, x);
            if (surface.w > ON_SURFACE_CELLS * t.cell_m) continue;
            holding = touch(holding, v, surface.xyz, velocity_of(body, pose, x), body.friction,
                            body.is_sticky != 0u);
        }
        for (uint axis = 0u; axis < DIMENSIONS; ++axis) {
            float side = wall_side(t, x, ON_SURFACE_CELLS * t.cell_m, axis);
            if (side == 0.0) continue;
            vec3 normal = vec3(0.0);
            normal[axis] = side;
            float friction = wall_friction(t, side, axis);
            holding = touch(holding, v, normal, vec3(0.0), friction, friction < 0.0);
        }
    }
    held[at] = holding;
}
