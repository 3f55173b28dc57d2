#version 460
// Marks springs for removal whose rest length has flowed beyond max_rest_m (Clavet, Beaudoin and Poulin 2005,
// §4.2).
//
// Bytes: 12 + 16 · degree a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"

layout(scalar, push_constant) uniform Params {
    BondTable table;
    uint max_bonds;
    float max_rest_m;
};
#include "bonds/mark_broken_bonds.glsl"

bool should_break(uint i, uint j, uint at) { return !(rest_length_m[at] <= max_rest_m); }
