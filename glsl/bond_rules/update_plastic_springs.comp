#version 460
// Updates plastic springs (Clavet, Beaudoin and Poulin 2005, §4.2): a spring that is stretched or compressed
// beyond its yield length γL flows, L ← L ± α Δt (|r − L| − γL). State: column 0 is the accumulated plastic
// change of length, Σ|ΔL| in m (f32); column 1 is the spring's age in steps (u32).
//
// Bytes: 20 + 24 · degree a particle, 12 a partner. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"
#include "common/rounded_sqrt.glsl"

layout(scalar, push_constant) uniform Params {
    BondTable table;
    // α Δt and γ.
    float plasticity_dt;
    float yield_ratio;
};
#include "bonds/update_bonds.glsl"
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 5) buffer State { uint state[]; };

void update_bond(uint i, uint j, uint at) {
    float length_m = rounded_sqrt(distance2_m2(position[i], position[j]));
    float rest_m = rest_length_m[at];
    precise float yield_m = yield_ratio * rest_m;
    precise float beyond_m = abs(length_m - rest_m) - yield_m;
    if (beyond_m > 0.0) {
        precise float change_m = plasticity_dt * beyond_m;
        precise float flowed_m = length_m > rest_m ? rest_m + change_m : rest_m - change_m;
        rest_length_m[at] = max(flowed_m, 0.0);
        uint strain = state_idx(table, 0u, at);
        precise float total_m = uintBitsToFloat(state[strain]) + change_m;
        state[strain] = floatBitsToUint(total_m);
    }
    state[state_idx(table, 1u, at)] += 1u;
}
