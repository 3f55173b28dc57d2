#version 460
// Computes the density of each node of the active blocks, Σ m W(x_i − x_p), from the particles around it,
// which are gathered from the cells below it in their order.
//
// It replaces Gucer2010 eq 3.18, Σ m/g with g the distance from particle to node: that sum is unbounded where
// a particle is at a node, and jumps where one leaves the visited cells. W is the cubic spline of
// sph/kernels.glsl, with a radius of at most two cells and integral 1, so values are in kg/m³ for any cell
// size. Particles are listed at the lowest node of the 4³ that they reach. Bytes: 4 a node written; a
// particle's position and mass once, if caches hold a block's. No atomics: sums in a fixed order.
// Elements: position = all, mass = all * OWN_MASS, density = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
// 1: a mass for each particle; 0: `scale` includes the mass of all.
layout(constant_id = 2) const uint OWN_MASS = 1;
const uint DIMENSIONS = 3u;
const uint STENCIL = 4u;
#include "sparse/blocks.glsl"
#include "sph/kernels.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Active { uint active_block[]; };
layout(scalar, binding = 2) readonly buffer Source { uint source[]; };
layout(scalar, binding = 3) readonly buffer FirstCell { uint first_cell[]; };
layout(scalar, binding = 4) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 5) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 6) readonly buffer Mass { float mass[]; };
layout(scalar, binding = 7) writeonly buffer Density { float density[]; };
layout(scalar, push_constant) uniform Params {
    BlockLattice lattice;
    // Inverse of the radius of the spline's support, in 1/cells.
    float inverse_radius;
    // Factor on the spline's shape, in 1/m³ or kg/m³.
    float scale;
};

#include "sparse/cell_row.glsl"

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (a >= active_count[0]) return;
    uvec3 in_block = node_place(n);
    vec3 node = vec3(BLOCK_SIDE * block_place(lattice, active_block[a]) + in_block);
    precise float sum = 0.0;
    [[dont_unroll]] for (uint z = STENCIL; z-- > 0u;) {
        [[dont_unroll]] for (uint y = STENCIL; y-- > 0u;) {
            // First the cells of the block before this one, then those of its own.
            [[dont_unroll]] for (uint side = 2u; side-- > 0u;) {
                CellRow row = row_of_cells(a, in_block, 1u, y, z, side);
                [[dont_unroll]] for (uint p = row.begin; p < row.end; ++p) {
                    vec3 offset = node - place_in_cells(lattice, position[p]);
                    float q = length(offset) * inverse_radius;
                    // Written so that NaN adds nothing.
                    if (q < 1.0) sum += (OWN_MASS != 0u ? mass[p] : 1.0) * spline_shape(q);
                }
            }
        }
    }
    density[a * BLOCK_NODES + n] = scale * sum;
}
