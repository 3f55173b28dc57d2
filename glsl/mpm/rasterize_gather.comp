#version 460
// Steps 1 and 3 for a node: mass Σ w m (004 eq 3.10), momentum Σ w m v (eq 3.11) and force −Σ V⁰ τ ∇w (eq 3.23) of the particles that
// reach it, which are gathered from the cells about it, in their order.
//
// APIC adds the affine velocity, v + C (x_i − x_p) (Jiang et al. 2015); MLS takes −Σ w V⁰ τ (x_i − x_p)/D for the force (Hu et al. 2018).
// Bytes: 28 a node written; a particle's position, velocity, mass, stress and affine velocity once, if caches hold a block's. No
// atomics: sums in a fixed order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
layout(constant_id = 3) const uint STENCIL = 4;
layout(constant_id = 4) const uint AS_PRINTED = 0;
layout(constant_id = 5) const uint TRANSFER = 0;
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

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (a >= active_count[0]) return;
    MpmTerms t = terms[0];
    uvec3 in_block = node_place(n);
    uvec3 node = BLOCK_SIDE * block_place(t.lattice, active_block[a]) + in_block;
    vec4 sum = vec4(0.0);
    vec3 pull = vec3(0.0);
    [[dont_unroll]] for (uint z = STENCIL_Z; z-- > 0u;) {
        [[dont_unroll]] for (uint y = STENCIL; y-- > 0u;) {
            [[dont_unroll]] for (uint x = STENCIL; x-- > 0u;) {
                uvec3 k = uvec3(x, y, z);
                // The cell k below this node: in this block, or at the far side of one before it.
                uvec3 below = uvec3(lessThan(in_block, k));
                uint o = source[a * BLOCK_REACH + (below.x | below.y << 1u | below.z << 2u)];
                if (o == INVALID_INDEX) continue;
                uint cell = o * BLOCK_NODES + node_number(in_block + BLOCK_SIDE * below - k);
                uint end = cell_start[cell + 1u];
                [[dont_unroll]] for (uint p = cell_start[cell]; p < end; ++p) {
                    vec3 f = place_in_stencil(place_in_cells(t.lattice, position[p]), node - k);
                    vec4 w = node_weight(axis_weight(f.x, x), axis_weight(f.y, y), third_weight(f, z));
                    float m = w.w * mass[p];
                    vec3 v = in_dimensions(velocity[p]);
                    vec3 offset_m = scaled(t.cell_m, vec3(k) - from_base(f));
                    if (TRANSFER != PIC_FLIP) v += times(LOAD_MATRIX(affine, p, 0.0), offset_m);
                    sum += vec4(scaled(m, v), m);
                    pull -= times(LOAD_SYMMETRIC(stress, p), TRANSFER == MLS ? scaled(w.w, offset_m) : w.xyz);
                }
            }
        }
    }
    uint at = a * BLOCK_NODES + n;
    momentum[at] = sum;
    force[at] = (TRANSFER == MLS ? inverse_inertia(t.lattice.cells_per_m) : t.lattice.cells_per_m) * pull;
}
