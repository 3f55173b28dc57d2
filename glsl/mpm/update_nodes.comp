#version 460
// Sums the tiles of blocks at a node (rasterize_tiles.comp), the end of steps 1 and 3, if these do not write
// the node's sums. Then runs steps 4 and 5: v* = v + Δt (f/m + g) (Breekveldt2017 eq 3.24), then collisions
// with bodies and walls (sec 3.2.5), whose impulses on named bodies are summed.
//
// `change` is the change of the node's velocity, for FLIP. Bytes: 28 read or (tiles) written, 12 or (FLIP) 24
// written a node, and 28 for each node of a tile read. Order-independent: the sums are of integers.
// Elements: clock = 0.
// Elements: source = (threads << DIMENSIONS) * FROM_TILES.
// Elements: tile_momentum = all * FROM_TILES, tile_force = all * FROM_TILES.
// Elements: momentum = threads * BLOCK_NODES, force = threads * BLOCK_NODES.
// Elements: node_velocity = threads * BLOCK_NODES, node_change = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
layout(constant_id = 4) const uint HAS_BODIES = 1;
layout(constant_id = 5) const uint BODY_KINDS = 0xe00df;
// 1 if loads on some bodies are measured.
layout(constant_id = 6) const uint HAS_NAMED_BODIES = 0;
// 1 if particles, not nodes, are in contact with surfaces that are not sticky.
layout(constant_id = 7) const uint ONLY_STICKY = 0;
layout(constant_id = 8) const uint STENCIL = 4;
// 1 to sum the tiles of blocks.
layout(constant_id = 9) const uint FROM_TILES = 0;
// 1 to write the change of the velocity, for FLIP.
layout(constant_id = 10) const uint HAS_FLIP = 0;
#include "mpm/terms.glsl"
#include "common/body.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Active { uint active_block[]; };
layout(scalar, binding = 3) readonly buffer Source { uint source[]; };
layout(scalar, binding = 4) readonly buffer TileMomentum { vec4 tile_momentum[]; };
layout(scalar, binding = 5) readonly buffer TileForce { vec3 tile_force[]; };
layout(scalar, binding = 6) buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 7) buffer Force { vec3 force[]; };
layout(scalar, binding = 8) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 9) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 10) writeonly buffer NodeVelocity { vec3 node_velocity[]; };
layout(scalar, binding = 11) writeonly buffer NodeChange { vec3 node_change[]; };
layout(scalar, binding = 12) buffer Sums { uint sums[]; };
layout(scalar, binding = 13) readonly buffer Clock { StepClock clock[]; };

#include "common/fixed.glsl"
#include "mpm/bodies.glsl"
#include "mpm/tile_sums.glsl"

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (a >= active_count[0]) return;
    MpmTerms t = terms[0];
    float time_s = substep_start_s(clock[0], t.dt_s);
    uint at = a * BLOCK_NODES + n;
    vec4 p;
    vec3 pull;
    if (FROM_TILES != 0u) {
        sum_tiles(a, n, p, pull);
        momentum[at] = p;
        force[at] = pull;
    } else {
        p = momentum[at];
        pull = force[at];
    }
    vec3 before = vec3(0.0);
    vec3 v = vec3(0.0);
    if (p.w > 0.0) {
        before = p.xyz / p.w;
        vec3 pushed = p.w > t.node_mass_cutoff_kg ? pull / p.w : vec3(0.0);
        v = before + t.dt_s * (pushed + t.gravity_m_s2);
        vec3 x = t.lattice.origin_m +
                 t.cell_m * vec3(BLOCK_SIDE * block_place(t.lattice, active_block[a]) + node_place(n));
        COLLIDE_AND_MEASURE(t, x, ON_SURFACE_CELLS * t.cell_m, time_s, p.w, v);
    }
    node_velocity[at] = v;
    if (HAS_FLIP != 0u) node_change[at] = v - before;
}
