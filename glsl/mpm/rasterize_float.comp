#version 460
// Runs steps 1 and 3 by floating-point atomics, like Cai2020: each particle adds to the nodes it reaches the
// sums of rasterize_gather.
//
// The sums depend on the order in which threads arrive, so their last bits differ from run to run. Bytes: a
// particle's position, velocity, mass, stress and affine velocity once, and 28 for each of its nodes, in
// atomics. Order-dependent.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_atomic_float : require
#include "common/kernel.glsl"
#include "mpm/scatter.glsl"

// Mass is the fourth number of a node's momentum.
layout(scalar, binding = 12) buffer Momentum { float momentum[]; };
layout(scalar, binding = 13) buffer Force { float force[]; };

void add_to_node(MpmTerms t, uint node, float m, vec3 v, vec3 pull) {
    for (uint axis = 0u; axis < DIMENSIONS; ++axis) {
        atomicAdd(momentum[4u * node + axis], m * v[axis]);
        atomicAdd(force[3u * node + axis], pull[axis]);
    }
    atomicAdd(momentum[4u * node + 3u], m);
}

void main() { scatter(); }
