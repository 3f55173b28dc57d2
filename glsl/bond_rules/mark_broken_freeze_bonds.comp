#version 460
// Marks ended contacts of grains for removal: an unfrozen contact if its ends are farther apart than
// contact_m, a frozen one if it is stretched past break_ratio · its rest length. State columns as in
// update_freeze_bonds.
//
// Bytes: 24 + 16 · degree a particle, 20 a partner. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"

layout(scalar, push_constant) uniform Params {
    BondTable table;
    uint max_bonds;
    float contact_m;
    float break_ratio;
};
#include "bonds/mark_broken_bonds.glsl"
layout(scalar, binding = 7) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 8) readonly buffer State { uint state[]; };

bool should_break(uint i, uint j, uint at) {
    bool is_frozen = state[state_idx(table, 0u, at)] != 0u;
    precise float max_length_m = is_frozen ? break_ratio * rest_length_m[at] : contact_m;
    precise float max_length2_m2 = max_length_m * max_length_m;
    return !(distance2_m2(position[i], position[j]) <= max_length2_m2);
}
