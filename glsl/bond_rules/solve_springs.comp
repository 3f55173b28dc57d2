#version 460
// Runs one Jacobi iteration of springs as compliant distance constraints (bonds/xpbd.glsl) between particles
// of equal mass: displacement_i = w Σ Δλ x_ij/|x_ij|. The multiplier of a spring is column
// `multiplier_column` of its state, in kg m. Both ends compute the same multiplier and opposite
// displacements, so momentum is conserved.
//
// Bytes: 32 + 16 · degree a particle, 12 a partner. Sums run in the order of slots.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bonds/bonds.glsl"
#include "bonds/xpbd.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 3) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 4) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 5) buffer State { uint state[]; };
layout(scalar, binding = 6) writeonly buffer Displacement { vec3 displacement[]; };
layout(scalar, push_constant) uniform Params {
    BondTable table;
    uint multiplier_column;
    uint is_first;
    float gain;
    float compliance_dt2;
    float inverse_mass;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 moved = vec3(0.0);
    FOR_EACH_BOND(table, i, at) {
        uint word = state_idx(table, multiplier_column, at);
        float multiplier = is_first != 0u ? 0.0 : uintBitsToFloat(state[word]);
        vec3 offset_m = position[i] - position[partner[at]];
        float length2_m2 = distance2_m2(position[i], position[partner[at]]);
        // Coincident ends have no direction for a correction.
        if (length2_m2 > 0.0) {
            float length_m = sqrt(length2_m2);
            float stretch_m = length_m - rest_length_m[at];
            precise float change =
                bond_multiplier_step(gain, stretch_m, compliance_dt2, multiplier, 2.0 * inverse_mass);
            precise vec3 correction = bond_correction(inverse_mass, change, offset_m, length_m);
            moved += correction;
            multiplier += change;
        }
        state[word] = floatBitsToUint(multiplier);
    }
    displacement[i] = moved;
}
