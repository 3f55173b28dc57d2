#version 460
// Gives the nodes in the pipes of emitters, and within the support of a particle of these, the velocity of
// the flow: snow in a pipe is not strained, and pushes what is in front of the mouth.
//
// Bytes: 16 a node, and 24 or (FLIP) 36 of each that is held. Order-independent.
// Elements: momentum = threads * BLOCK_NODES, node_velocity = 0, node_change = 0, emitters = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
// 1 to write the change of the velocity, for FLIP.
layout(constant_id = 3) const uint HAS_FLIP = 0;
#include "mpm/terms.glsl"
#include "sources/sources.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Active { uint active_block[]; };
layout(scalar, binding = 3) readonly buffer Emitters { Emitter emitters[]; };
layout(scalar, binding = 4) readonly buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 5) writeonly buffer NodeVelocity { vec3 node_velocity[]; };
layout(scalar, binding = 6) writeonly buffer NodeChange { vec3 node_change[]; };

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (a >= active_count[0]) return;
    MpmTerms t = terms[0];
    uint at = a * BLOCK_NODES + n;
    vec4 p = momentum[at];
    if (!(p.w > 0.0)) return;
    vec3 x = t.lattice.origin_m +
             t.cell_m * vec3(BLOCK_SIDE * block_place(t.lattice, active_block[a]) + node_place(n));
    [[dont_unroll]] for (uint e = 0u; e < emitters.length(); ++e) {
        if (!is_in_pipe(emitters[e], x, emitters[e].reach_m)) continue;
        vec3 v = emitters[e].speed_m_s * emitters[e].flow;
        node_velocity[at] = v;
        if (HAS_FLIP != 0u) node_change[at] = v - p.xyz / p.w;
    }
}
