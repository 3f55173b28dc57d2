#version 460
// Runs steps 1 and 3 for the particles of a block, into the block's tile of nodes: mass Σ w m (Breekveldt2017
// eq 3.10), momentum Σ w m v (eq 3.11) and force −Σ V⁰ τ ∇w (eq 3.23). add_tiles.comp sums the tiles.
//
// A thread takes a line of four cells along x, whose particles are consecutive, and ROWS_PER_THREAD of the
// rows of nodes along x that they reach. It sums over its particles in registers, in their order, and then
// adds to the tile in shared memory in rounds, one for each row of the stencil: in a round, lines add to
// different nodes. More rows per thread read a particle fewer times and leave fewer threads. The order of
// sums does not depend on it, since a particle that does not reach a node adds 0 to it.
//
// APIC adds the affine velocity, v + C (x_i − x_p) (Jiang et al. 2015); MLS uses −Σ w V⁰ τ (x_i − x_p)/D for
// the force (Hu et al. 2018). Those of surfaces are Σ w (F + t × (x_i − x_p)).
// Bytes: a particle's position, velocity, mass, stress and affine velocity once, if caches hold those of a
// block; 28 for each node of a tile written. No atomics: sums in a fixed order.
// Weights and mass of a node take 5 (D − 1) operations.
// Work: 5 * (DIMENSIONS - 1) + 4 * SYMMETRIC_WORDS * (1 + TRANSFER / 2) flop per particle_node.
// Elements: first_cell = threads, cell_start = threads * BLOCK_NODES, position = all, velocity = all.
// Elements: mass = all, order = all, stress = all, affine = all, surface_force = all * HAS_SURFACE_FORCES.
// Elements: surface_turn = all * HAS_SURFACE_FORCES.
// Elements: tile_momentum = threads * TILE_NODES, tile_force = threads * TILE_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 256;
layout(constant_id = 2) const uint DIMENSIONS = 3;
layout(constant_id = 3) const uint STENCIL = 4;
layout(constant_id = 4) const uint AS_PRINTED = 0;
layout(constant_id = 5) const uint TRANSFER = 0;
layout(constant_id = 6) const uint ROWS_PER_THREAD = 1;
// 1 if surfaces act on nodes through particles.
layout(constant_id = 7) const uint HAS_SURFACE_FORCES = 0;
#include "mpm/splines.glsl"
#include "mpm/tensors.glsl"
#include "mpm/tiles.glsl"

layout(scalar, binding = 0) readonly buffer OccupiedCount { uint occupied_count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer FirstCell { uint first_cell[]; };
layout(scalar, binding = 3) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 4) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 5) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 6) readonly buffer Mass { float mass[]; };
// Stress, affine velocity and forces of surfaces are still in the order of the step before.
layout(scalar, binding = 7) readonly buffer Order { uint order[]; };
layout(scalar, binding = 8) readonly buffer Stress { float stress[]; };
layout(scalar, binding = 9) readonly buffer Affine { float affine[]; };
layout(scalar, binding = 10) writeonly buffer TileMomentum { vec4 tile_momentum[]; };
layout(scalar, binding = 11) writeonly buffer TileForce { vec3 tile_force[]; };
layout(scalar, binding = 12) readonly buffer SurfaceForce { vec3 surface_force[]; };
layout(scalar, binding = 13) readonly buffer SurfaceTurn { vec3 surface_turn[]; };

// Lines of cells in a block, and rows of nodes in the stencil.
const uint LINES = BLOCK_NODES / BLOCK_SIDE;
const uint STENCIL_ROWS = STENCIL * STENCIL_Z;
const uint BLOCKS_PER_GROUP = WORKGROUP_SIZE / THREADS_PER_ITEM;
const uint GROUP_NODES = BLOCKS_PER_GROUP * TILE_NODES;

shared vec4 group_momentum[GROUP_NODES];
shared vec3 group_force[GROUP_NODES];

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint n_blocks = occupied_count[0];
    uint block = thread_idx() / THREADS_PER_ITEM;
    uint line = thread % LINES;
    uint part = thread % THREADS_PER_ITEM / LINES;
    MpmTerms t = terms[0];
    float gain = TRANSFER == MLS ? inverse_inertia(t.lattice.cells_per_m) : t.lattice.cells_per_m;
    [[dont_unroll]] for (uint n = thread; n < GROUP_NODES; n += WORKGROUP_SIZE) {
        group_momentum[n] = vec4(0.0);
        group_force[n] = vec3(0.0);
    }
    barrier();

    vec4 sum[ROWS_PER_THREAD * TILE_SIDE];
    vec3 pull[ROWS_PER_THREAD * TILE_SIDE];
    [[unroll]] for (uint n = 0u; n < ROWS_PER_THREAD * TILE_SIDE; ++n) {
        sum[n] = vec4(0.0);
        pull[n] = vec3(0.0);
    }
    bool has_rows = block < n_blocks && part * ROWS_PER_THREAD < STENCIL_ROWS;
    uint first = has_rows ? first_cell[block] + line * BLOCK_SIDE : 0u;
    uint begin = has_rows ? cell_start[first] : 0u;
    uint end = has_rows ? cell_start[first + BLOCK_SIDE] : 0u;
    [[dont_unroll]] for (uint p = begin; p < end; ++p) {
        vec3 xi = place_in_cells(t.lattice, position[p]);
        uvec3 base = base_of(t.lattice, xi);
        vec3 f = place_in_stencil(xi, base);
        vec3 from = from_base(f);
        uint x = base.x % BLOCK_SIDE;
        float own = mass[p];
        vec3 v = in_dimensions(velocity[p]);
        uint old = order[p];
        mat3 c = TRANSFER != PIC_FLIP ? LOAD_MATRIX(affine, old, 0.0) : mat3(0.0);
        mat3 tau = LOAD_SYMMETRIC(stress, old);
        vec3 pushed = HAS_SURFACE_FORCES != 0u ? in_dimensions(surface_force[old]) / gain : vec3(0.0);
        vec3 turned = HAS_SURFACE_FORCES != 0u ? surface_turn[old] / gain : vec3(0.0);
        [[unroll]] for (uint r = 0u; r < ROWS_PER_THREAD; ++r) {
            uint row = part * ROWS_PER_THREAD + r;
            uint y = row % STENCIL;
            uint z = row / STENCIL;
            vec2 along_y = axis_weight(f.y, y);
            vec2 along_z = third_weight(f, z);
            [[unroll]] for (uint n = 0u; n < TILE_SIDE; ++n) {
                uint k = n - x;
                vec2 along_x = k < STENCIL ? axis_weight(f.x, k) : vec2(0.0);
                vec4 w = node_weight(along_x, along_y, along_z);
                float m = w.w * own;
                vec3 offset_m = scaled(t.cell_m, vec3(k, y, z) - from);
                vec3 at_node = TRANSFER != PIC_FLIP ? v + times(c, offset_m) : v;
                sum[r * TILE_SIDE + n] += vec4(scaled(m, at_node), m);
                pull[r * TILE_SIDE + n] -= times(tau, TRANSFER == MLS ? scaled(w.w, offset_m) : w.xyz);
                if (HAS_SURFACE_FORCES != 0u)
                    pull[r * TILE_SIDE + n] += scaled(w.w, pushed + cross(turned, offset_m));
            }
        }
    }

    uint own_tile = thread / THREADS_PER_ITEM * TILE_NODES;
    [[dont_unroll]] for (uint turn = 0u; turn * ROWS_PER_THREAD < STENCIL_ROWS; ++turn) {
        [[unroll]] for (uint r = 0u; r < ROWS_PER_THREAD; ++r) {
            uint row = turn * ROWS_PER_THREAD + r;
            if (part == turn && row < STENCIL_ROWS) {
                uvec3 at = uvec3(0u, line % BLOCK_SIDE + row % STENCIL, line / BLOCK_SIDE + row / STENCIL);
                uint to = own_tile + tile_node(at);
                [[unroll]] for (uint n = 0u; n < TILE_SIDE; ++n) {
                    group_momentum[to + n] += sum[r * TILE_SIDE + n];
                    group_force[to + n] += pull[r * TILE_SIDE + n];
                }
            }
            barrier();
        }
    }

    uint first_block = group_idx() * BLOCKS_PER_GROUP;
    uint n_nodes = min(n_blocks - min(first_block, n_blocks), BLOCKS_PER_GROUP) * TILE_NODES;
    [[dont_unroll]] for (uint n = thread; n < n_nodes; n += WORKGROUP_SIZE) {
        uint to = first_block * TILE_NODES + n;
        tile_momentum[to] = group_momentum[n];
        tile_force[to] = gain * group_force[n];
    }
}
