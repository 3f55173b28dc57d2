#version 460
// Marks springs longer than max_length_m for removal (Clavet, Beaudoin and Poulin 2005, §4.2).
//
// Bytes: 24 + 12 · degree a particle, 20 a partner. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"

layout(scalar, push_constant) uniform Params {
    BondTable table;
    uint max_bonds;
    float max_length_m;
};
#include "bonds/mark_broken_bonds.glsl"
layout(scalar, binding = 7) readonly buffer Position { vec3 position[]; };

bool should_break(uint i, uint j, uint at) {
    precise float max_length2_m2 = max_length_m * max_length_m;
    return !(distance2_m2(position[i], position[j]) <= max_length2_m2);
}
