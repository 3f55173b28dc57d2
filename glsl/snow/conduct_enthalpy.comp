#version 460
// Heat conduction by specific enthalpy, with true latent heat:  H_i ← H_i + Δt/ρ Σ_j V k_ij (T_j − T_i) ∇²W(x_ij), and
//   T = T_f + H/c_snow below 0,  T_f from 0 to L,  T_f + (H − L)/c_water above,
// whichever phase the particle is in: the phase follows the enthalpy, not the other way round, and ΣmH is kept through it.
//
// Bytes: 32 a particle (x* 12, key 4, T 4 + 4, H 8) plus neighbours from cache. Sums run in sorted order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 5) readonly buffer OtherCellStart { uint other_cell_start[]; };
layout(scalar, binding = 6) readonly buffer OtherPredicted { vec3 other_predicted[]; };
layout(scalar, binding = 7) readonly buffer OtherTemperature { float other_temperature[]; };
layout(scalar, binding = 8) writeonly buffer Conducted { float conducted[]; };
layout(scalar, binding = 9) buffer Enthalpy { float enthalpy[]; };
#include "snow/conduction.glsl"
layout(scalar, push_constant) uniform Params {
    Conduction conduction;
    // Δt/(ρ h²) · V/h³ · 45/π, made to fit the lattice.
    float heating;
    float freezing_c;
    float snow_capacity_j_kg_k;
    float water_capacity_j_kg_k;
    float latent_heat_j_kg;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    CONDUCTED(sum, conduction, i);
    float h = enthalpy[i] + heating * sum;
    enthalpy[i] = h;
    conducted[i] = freezing_c + min(h, 0.0) / snow_capacity_j_kg_k + max(h - latent_heat_j_kg, 0.0) / water_capacity_j_kg_k;
}
