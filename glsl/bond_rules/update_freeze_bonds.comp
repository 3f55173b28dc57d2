#version 460
// Freezes contacts of grains: a contact whose ends have moved slowly for freeze_after_s becomes a bond.
// State: column 0 is 1 if it is frozen, else 0 (u32); column 1 is the time for which it has been slow, in s
// (f32). A frozen contact stays frozen until it breaks.
//
// Bytes: 20 + 20 · degree a particle, 12 a partner. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"

layout(scalar, push_constant) uniform Params {
    BondTable table;
    float dt_s;
    float slow_m_s;
    float freeze_after_s;
};
#include "bonds/update_bonds.glsl"
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) buffer State { uint state[]; };

void update_bond(uint i, uint j, uint at) {
    uint frozen = state_idx(table, 0u, at);
    if (state[frozen] != 0u) return;
    uint slow = state_idx(table, 1u, at);
    precise float slow2 = slow_m_s * slow_m_s;
    precise float slow_s = uintBitsToFloat(state[slow]) + dt_s;
    // The square of a relative velocity, like that of a distance, has the same bits at both ends.
    if (!(distance2_m2(velocity[i], velocity[j]) <= slow2)) slow_s = 0.0;
    state[slow] = floatBitsToUint(slow_s);
    if (slow_s >= freeze_after_s) state[frozen] = 1u;
}
