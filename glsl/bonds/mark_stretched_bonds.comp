#version 460
// Marks bonds stretched past break_ratio · their rest length for removal: the rule of brittle bonds.
//
// Bytes: 24 + 12 · degree a particle, 20 a partner. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"

layout(scalar, push_constant) uniform Params {
    BondTable table;
    uint max_bonds;
    float break_ratio;
};
#include "bonds/mark_broken_bonds.glsl"
layout(scalar, binding = 7) readonly buffer Position { vec3 position[]; };

// Rounding tolerance, 1 + 2⁻²⁰: a device may round the square root of a rest length by 2.5 ulp, and a bond
// that has not moved is intact at ratio 1.
const float ROUNDING = 1.00000095367431640625;

bool should_break(uint i, uint j, uint at) {
    precise float max_length_m = rest_length_m[at] * break_ratio;
    precise float max_length2_m2 = max_length_m * max_length_m * ROUNDING;
    return !(distance2_m2(position[i], position[j]) <= max_length2_m2);
}
