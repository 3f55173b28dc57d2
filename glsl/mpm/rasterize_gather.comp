#version 460
// Runs steps 1 and 3 for a run of NODES_PER_THREAD nodes along x: mass Σ w m (Breekveldt2017 eq 3.10),
// momentum Σ w m v (eq 3.11) and force −Σ V⁰ τ ∇w (eq 3.23) of the particles that reach them, gathered from
// the cells around them, in their order. A longer run reads a particle fewer times and leaves fewer threads;
// the bits are the same, since a particle that does not reach a node adds 0 to it.
//
// APIC adds the affine velocity, v + C (x_i − x_p) (Jiang et al. 2015); MLS uses −Σ w V⁰ τ (x_i − x_p)/D for
// the force (Hu et al. 2018).
// Bytes: 28 a node written; a particle's position, velocity, mass, stress and affine velocity once, if caches
// hold those of a block. No atomics: sums in a fixed order.
// Elements: position = all, velocity = all, mass = all, stress = all, affine = all.
// Elements: momentum = threads * BLOCK_NODES, force = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
layout(constant_id = 3) const uint STENCIL = 4;
layout(constant_id = 4) const uint AS_PRINTED = 0;
layout(constant_id = 5) const uint TRANSFER = 0;
layout(constant_id = 6) const uint NODES_PER_THREAD = 1;
#include "mpm/splines.glsl"
#include "mpm/tensors.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Active { uint active_block[]; };
layout(scalar, binding = 3) readonly buffer Source { uint source[]; };
layout(scalar, binding = 4) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 5) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 6) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 7) readonly buffer Mass { float mass[]; };
layout(scalar, binding = 8) readonly buffer Stress { float stress[]; };
layout(scalar, binding = 9) readonly buffer Affine { float affine[]; };
layout(scalar, binding = 10) writeonly buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 11) writeonly buffer Force { vec3 force[]; };

#include "sparse/cell_row.glsl"

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM * NODES_PER_THREAD;
    if (a >= active_count[0]) return;
    MpmTerms t = terms[0];
    uvec3 in_block = node_place(n);
    uint node_x = BLOCK_SIDE * block_place(t.lattice, active_block[a]).x + in_block.x;
    vec4 sum[NODES_PER_THREAD];
    vec3 pull[NODES_PER_THREAD];
    [[unroll]] for (uint r = 0u; r < NODES_PER_THREAD; ++r) {
        sum[r] = vec4(0.0);
        pull[r] = vec3(0.0);
    }
    [[dont_unroll]] for (uint z = STENCIL_Z; z-- > 0u;) {
        [[dont_unroll]] for (uint y = STENCIL; y-- > 0u;) {
            // First the cells of the block before this one, then those of its own.
            [[dont_unroll]] for (uint side = 2u; side-- > 0u;) {
                CellRow row = row_of_cells(a, in_block, NODES_PER_THREAD, y, z, side);
                [[dont_unroll]] for (uint p = row.begin; p < row.end; ++p) {
                    vec3 xi = place_in_cells(t.lattice, position[p]);
                    uvec3 base = base_of(t.lattice, xi);
                    vec3 f = place_in_stencil(xi, base);
                    vec2 along_y = axis_weight(f.y, y);
                    vec2 along_z = third_weight(f, z);
                    float own = mass[p];
                    vec3 v = in_dimensions(velocity[p]);
                    mat3 c = TRANSFER != PIC_FLIP ? LOAD_MATRIX(affine, p, 0.0) : mat3(0.0);
                    mat3 tau = LOAD_SYMMETRIC(stress, p);
                    [[unroll]] for (uint r = 0u; r < NODES_PER_THREAD; ++r) {
                        uint k = node_x + r - base.x;
                        vec2 along_x = k < STENCIL ? axis_weight(f.x, k) : vec2(0.0);
                        vec4 w = node_weight(along_x, along_y, along_z);
                        float m = w.w * own;
                        vec3 offset_m = scaled(t.cell_m, vec3(k, y, z) - from_base(f));
                        vec3 at_node = TRANSFER != PIC_FLIP ? v + times(c, offset_m) : v;
                        sum[r] += vec4(scaled(m, at_node), m);
                        pull[r] -= times(tau, TRANSFER == MLS ? scaled(w.w, offset_m) : w.xyz);
                    }
                }
            }
        }
    }
    float gain = TRANSFER == MLS ? inverse_inertia(t.lattice.cells_per_m) : t.lattice.cells_per_m;
    [[unroll]] for (uint r = 0u; r < NODES_PER_THREAD; ++r) {
        uint at = a * BLOCK_NODES + n + r;
        momentum[at] = sum[r];
        force[at] = gain * pull[r];
    }
}
