#version 460
// Runs step 2, once: the volume of a particle from the grid's density around it, V⁰ = m / Σ (m_i w / h^D)
// (Breekveldt2017 eq 3.12 to 3.14).
//
// Bytes: 20 a particle, and the masses of its nodes once per block if caches hold them. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
layout(constant_id = 2) const uint STENCIL = 4;
layout(constant_id = 3) const uint AS_PRINTED = 0;
#include "mpm/splines.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer BlockOf { uint block_of[]; };
layout(scalar, binding = 3) readonly buffer Target { uint target[]; };
layout(scalar, binding = 4) readonly buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 5) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 6) readonly buffer Mass { float mass[]; };
layout(scalar, binding = 7) writeonly buffer Volume { float volume[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    MpmTerms t = terms[0];
    vec3 xi = place_in_cells(t.lattice, position[i]);
    uvec3 base = base_of(t.lattice, xi);
    vec3 f = place_in_stencil(xi, base);
    uint reach = block_of[i] * BLOCK_REACH;
    float about = 0.0;
    [[dont_unroll]] for (uint z = 0u; z < STENCIL_Z; ++z) {
        vec2 along_z = third_weight(f, z);
        [[dont_unroll]] for (uint y = 0u; y < STENCIL; ++y) {
            vec2 along_y = axis_weight(f.y, y);
            [[dont_unroll]] for (uint k = 0u; k < STENCIL; ++k) {
                uint node = reach_node(base % BLOCK_SIDE, uvec3(k, y, z));
                node = target[reach + node / BLOCK_NODES] * BLOCK_NODES + node % BLOCK_NODES;
                about += node_weight(axis_weight(f.x, k), along_y, along_z).w * momentum[node].w;
            }
        }
    }
    float cell_volume = t.cell_m * t.cell_m;
    if (DIMENSIONS == 3u) cell_volume *= t.cell_m;
    volume[i] = about > 0.0 ? mass[i] * cell_volume / about : cell_volume;
}
