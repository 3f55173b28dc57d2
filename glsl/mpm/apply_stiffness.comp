#version 460
// Applies the operator w = B u for a node: u + β Δt²/m Σ V⁰ δP F_Eᵀ ∇w, gathered from the particles that
// reach it like rasterize_gather, and projected onto the directions that surfaces leave free.
//
// Bytes: 52 a node; 4 (3 + D²) a particle if caches hold a block's. No atomics: sums in a fixed order.
// Elements: position = all, tangent = all.
// Elements: momentum = threads * BLOCK_NODES, field = threads * BLOCK_NODES, held = threads * BLOCK_NODES.
// Elements: applied = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint DIMENSIONS = 3;
layout(constant_id = 3) const uint STENCIL = 4;
layout(constant_id = 4) const uint AS_PRINTED = 0;
#include "mpm/splines.glsl"
#include "mpm/tensors.glsl"
#include "mpm/solve.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Active { uint active_block[]; };
layout(scalar, binding = 3) readonly buffer Source { uint source[]; };
layout(scalar, binding = 4) readonly buffer FirstCell { uint first_cell[]; };
layout(scalar, binding = 5) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 6) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 7) readonly buffer Tangent { float tangent[]; };
layout(scalar, binding = 8) readonly buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 9) readonly buffer Field { vec3 field[]; };
layout(scalar, binding = 10) readonly buffer Solve { MpmSolve solve[]; };
layout(scalar, binding = 11) readonly buffer Held { vec3 held[]; };
layout(scalar, binding = 12) writeonly buffer Applied { vec3 applied[]; };

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (a >= active_count[0] || solve[0].is_done != 0u) return;
    MpmTerms t = terms[0];
    uvec3 in_block = node_place(n);
    uvec3 node = BLOCK_SIDE * block_place(t.lattice, active_block[a]) + in_block;
    vec3 pull = vec3(0.0);
    [[dont_unroll]] for (uint z = STENCIL_Z; z-- > 0u;) {
        [[dont_unroll]] for (uint y = STENCIL; y-- > 0u;) {
            [[dont_unroll]] for (uint x = STENCIL; x-- > 0u;) {
                uvec3 k = uvec3(x, y, z);
                uvec3 below = uvec3(lessThan(in_block, k));
                uint o = source[a * BLOCK_REACH + (below.x | below.y << 1u | below.z << 2u)];
                if (o == INVALID_INDEX) continue;
                uint cell = first_cell[o] + node_number(in_block + BLOCK_SIDE * below - k);
                uint end = cell_start[cell + 1u];
                [[dont_unroll]] for (uint p = cell_start[cell]; p < end; ++p) {
                    vec3 f = place_in_stencil(place_in_cells(t.lattice, position[p]), node - k);
                    vec4 w = node_weight(axis_weight(f.x, x), axis_weight(f.y, y), third_weight(f, z));
                    pull += times(LOAD_MATRIX(tangent, p, 0.0), w.xyz);
                }
            }
        }
    }
    uint at = a * BLOCK_NODES + n;
    float m = momentum[at].w;
    vec3 whole = m > 0.0 ? field[at] + t.implicit_dt2 * t.lattice.cells_per_m / m * pull : vec3(0.0);
    applied[at] = left_free(held[at], whole);
}
