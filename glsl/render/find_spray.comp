#version 460
// Marks spray particles: those at which the density of the nodes, interpolated along each axis, is below that
// of the surface.
//
// Particles are sorted, and listed at the lowest node of the 4³ that they reach, so the nodes around a
// particle are the second and the third along each axis. A particle whose block exceeded the capacity, or
// whose position is NaN, is spray.
// Bytes: 24 a particle (position 12, block 4, flag 4, target 4) and the densities once, if caches hold those
// of a block. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
const uint DIMENSIONS = 3u;
#include "sparse/blocks.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer BlockOf { uint block_of[]; };
layout(scalar, binding = 3) readonly buffer OccupiedCount { uint occupied_count[]; };
layout(scalar, binding = 4) readonly buffer Target { uint target[]; };
layout(scalar, binding = 5) readonly buffer Density { float density[]; };
layout(scalar, binding = 6) writeonly buffer IsSpray { uint is_spray[]; };
layout(scalar, push_constant) uniform Params {
    BlockLattice lattice;
    // Density of the surface, in kg/m³.
    float level;
};

float density_at(uint o, uvec3 base_in_block, uvec3 k) {
    uint node = reach_node(base_in_block, k);
    uint active_idx = target[o * BLOCK_REACH + node / BLOCK_NODES];
    return active_idx == INVALID_INDEX ? 0.0 : density[active_idx * BLOCK_NODES + node % BLOCK_NODES];
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    is_spray[i] = 1u;
    uint o = block_of[i];
    if (o >= occupied_count[0]) return;
    vec3 xi = place_in_cells(lattice, position[i]);
    uvec3 base = base_of(lattice, xi);
    // Clamped for particles outside the lattice, whose base is inside.
    precise vec3 share = clamp(xi - vec3(base + 1u), 0.0, 1.0);
    precise float sum = 0.0;
    [[unroll]] for (uint corner = 0u; corner < 8u; ++corner) {
        uvec3 far = reach_step(corner);
        vec3 weight = mix(1.0 - share, share, vec3(far));
        sum += weight.x * weight.y * weight.z * density_at(o, base % BLOCK_SIDE, far + 1u);
    }
    // Written so that NaN is spray.
    if (sum >= level) is_spray[i] = 0u;
}
