#version 460
// Repeats step 5 after the semi-implicit solve: nodes that it has moved into bodies or walls collide again,
// and the velocity change for FLIP is recomputed. Bytes: 52 a node. Order-independent.
// Elements: clock = 0.
// Elements: momentum = threads * BLOCK_NODES, node_velocity = threads * BLOCK_NODES.
// Elements: node_change = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
// 1 to write the change of the velocity, for FLIP.
layout(constant_id = 3) const uint HAS_FLIP = 0;
layout(constant_id = 4) const uint HAS_BODIES = 1;
layout(constant_id = 5) const uint BODY_KINDS = 0xe00df;
#include "mpm/terms.glsl"
#include "common/body.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Active { uint active_block[]; };
layout(scalar, binding = 3) readonly buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 4) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 5) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 6) buffer NodeVelocity { vec3 node_velocity[]; };
layout(scalar, binding = 7) writeonly buffer NodeChange { vec3 node_change[]; };
layout(scalar, binding = 8) readonly buffer Clock { StepClock clock[]; };

const uint ONLY_STICKY = 0u;
#include "mpm/bodies.glsl"

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (a >= active_count[0]) return;
    MpmTerms t = terms[0];
    float time_s = substep_start_s(clock[0], t.dt_s);
    uint at = a * BLOCK_NODES + n;
    vec4 p = momentum[at];
    if (!(p.w > 0.0)) return;
    vec3 v = node_velocity[at];
    vec3 x = t.lattice.origin_m +
             t.cell_m * vec3(BLOCK_SIDE * block_place(t.lattice, active_block[a]) + node_place(n));
    COLLIDE(t, x, ON_SURFACE_CELLS * t.cell_m, time_s, v);
    node_velocity[at] = v;
    if (HAS_FLIP != 0u) node_change[at] = v - p.xyz / p.w;
}
