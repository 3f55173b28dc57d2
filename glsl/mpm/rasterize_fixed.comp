#version 460
// Runs steps 1 and 3 by integer atomics: each particle adds to the nodes it reaches the sums of
// rasterize_gather, in 64-bit fixed point.
//
// A number is two words, the lower first; the thread that makes the lower one wrap carries into the upper
// one. Integer sums do not depend on their order. Forces are added as the momentum that they give in Δt.
// Bytes: a particle's position, velocity, mass, stress and affine velocity once, and 56 for each of its
// nodes, in atomics. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "mpm/scatter.glsl"

// Seven numbers per node: mass, momentum, and the momentum given by forces.
layout(scalar, binding = 12) buffer Sums { uint sums[]; };

const float TWO_32 = 4294967296.0;
// Maximum magnitude of a number in quanta. Larger ones are clamped: their state is far too fast, and the next
// pass rejects it.
const float MOST = 1.1529215e18;

void add(uint number, float quanta) {
    float magnitude = min(abs(round(quanta)), MOST);
    uint high = uint(magnitude / TWO_32);
    uint low = uint(magnitude - float(high) * TWO_32);
    if (quanta < 0.0) {
        low = ~low + 1u;
        high = ~high + (low == 0u ? 1u : 0u);
    }
    if (low != 0u) {
        uint before = atomicAdd(sums[2u * number], low);
        if (before + low < before) high += 1u;
    }
    if (high != 0u) atomicAdd(sums[2u * number + 1u], high);
}

void add_to_node(MpmTerms t, uint node, float m, vec3 v, vec3 pull) {
    add(7u * node, m / t.mass_quantum);
    for (uint axis = 0u; axis < DIMENSIONS; ++axis) {
        add(7u * node + 1u + axis, m * v[axis] / t.momentum_quantum);
        add(7u * node + 4u + axis, t.dt_s * pull[axis] / t.momentum_quantum);
    }
}

void main() { scatter(); }
