// Steps 1 and 3 with one thread per particle, which adds to each node that it reaches; the method of addition
// is a parameter.
//
// The including shader defines `add_to_node(MpmTerms t, uint node, float m, vec3 v, vec3 pull)` after
// "mpm/scatter.glsl" and the buffers from binding 12 on, and calls scatter().
#ifndef MPM_SCATTER
#define MPM_SCATTER
layout(constant_id = 1) const uint DIMENSIONS = 3;
layout(constant_id = 2) const uint STENCIL = 4;
layout(constant_id = 3) const uint AS_PRINTED = 0;
layout(constant_id = 4) const uint TRANSFER = 0;
// 1 if surfaces act on nodes through particles.
layout(constant_id = 5) const uint HAS_SURFACE_FORCES = 0;
#include "mpm/splines.glsl"
#include "mpm/tensors.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer BlockOf { uint block_of[]; };
layout(scalar, binding = 3) readonly buffer Target { uint target[]; };
layout(scalar, binding = 4) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 5) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 6) readonly buffer Mass { float mass[]; };
// Stress, affine velocity and forces of surfaces are still in the order of the step before.
layout(scalar, binding = 7) readonly buffer Order { uint order[]; };
layout(scalar, binding = 8) readonly buffer Stress { float stress[]; };
layout(scalar, binding = 9) readonly buffer Affine { float affine[]; };
layout(scalar, binding = 10) readonly buffer SurfaceForce { vec3 surface_force[]; };
layout(scalar, binding = 11) readonly buffer SurfaceTurn { vec3 surface_turn[]; };

void add_to_node(MpmTerms t, uint node, float m, vec3 v, vec3 pull);

void scatter() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    MpmTerms t = terms[0];
    vec3 xi = place_in_cells(t.lattice, position[i]);
    uvec3 base = base_of(t.lattice, xi);
    vec3 f = place_in_stencil(xi, base);
    uint reach = block_of[i] * BLOCK_REACH;
    float inertia = inverse_inertia(t.lattice.cells_per_m);
    vec3 own = velocity[i];
    float own_mass = mass[i];
    uint old = order[i];
    mat3 s = LOAD_SYMMETRIC(stress, old);
    vec3 pushed = HAS_SURFACE_FORCES != 0u ? surface_force[old] : vec3(0.0);
    vec3 turned = HAS_SURFACE_FORCES != 0u ? surface_turn[old] : vec3(0.0);
    mat3 c = TRANSFER == PIC_FLIP ? mat3(0.0) : LOAD_MATRIX(affine, old, 0.0);
    [[dont_unroll]] for (uint z = 0u; z < STENCIL_Z; ++z) {
        vec2 along_z = third_weight(f, z);
        [[dont_unroll]] for (uint y = 0u; y < STENCIL; ++y) {
            vec2 along_y = axis_weight(f.y, y);
            [[dont_unroll]] for (uint x = 0u; x < STENCIL; ++x) {
                uvec3 k = uvec3(x, y, z);
                uint node = reach_node(base % BLOCK_SIDE, k);
                uint block = target[reach + node / BLOCK_NODES];
                // The list of blocks overflowed: the step is discarded, see report_fault.
                if (block == INVALID_INDEX) continue;
                node = block * BLOCK_NODES + node % BLOCK_NODES;
                vec4 w = node_weight(axis_weight(f.x, x), along_y, along_z);
                float m = w.w * own_mass;
                vec3 offset_m = scaled(t.cell_m, vec3(k) - from_base(f));
                vec3 v = TRANSFER == PIC_FLIP ? own : own + times(c, offset_m);
                vec3 pull = times(s, TRANSFER == MLS ? scaled(-w.w * inertia, offset_m)
                                                     : scaled(-t.lattice.cells_per_m, w.xyz));
                if (HAS_SURFACE_FORCES != 0u) pull += scaled(w.w, pushed + cross(turned, offset_m));
                add_to_node(t, node, m, v, pull);
            }
        }
    }
}

#endif
