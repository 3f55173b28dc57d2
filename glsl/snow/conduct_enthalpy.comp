#version 460
// Conducts heat by specific enthalpy, with true latent heat:  H_i ← H_i + Δt/ρ Σ_j V k_ij (T_j − T_i)
// ∇²W(x_ij), and
//   T = T_f + H/c_snow below 0,  T_f from 0 to L,  T_f + (H − L)/c_water above,
// in either phase: the phase follows from the enthalpy, not vice versa, and ΣmH is conserved. The
// conductivity of a particle follows from its liquid fraction, k = k_snow + (k_water − k_snow) H/L in
// between.
//
// Bytes: 32 a particle (x* 12, key 4, T 4 + 4, H 4 + 4) plus neighbours from cache. Sums run in sorted order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "snow/conduction.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 5) readonly buffer Enthalpy { float enthalpy[]; };
layout(scalar, binding = 6) readonly buffer OtherCellStart { uint other_cell_start[]; };
layout(scalar, binding = 7) readonly buffer OtherPredicted { vec3 other_predicted[]; };
layout(scalar, binding = 8) readonly buffer OtherTemperature { float other_temperature[]; };
layout(scalar, binding = 9) readonly buffer OtherEnthalpy { float other_enthalpy[]; };
layout(scalar, binding = 10) writeonly buffer Conducted { float conducted[]; };
layout(scalar, binding = 11) writeonly buffer ConductedEnthalpy { float conducted_enthalpy[]; };
layout(scalar, push_constant) uniform Params {
    Conduction conduction;
    // Δt/(ρ h²) · V/h³ · 45/π, calibrated to the lattice.
    float heating;
    float freezing_c;
    float snow_capacity_j_kg_k;
    float water_capacity_j_kg_k;
    float latent_heat_j_kg;
    float snow_w_m_k;
    float water_w_m_k;
};

float conductivity_of(float h) { return mix(snow_w_m_k, water_w_m_k, clamp(h / latent_heat_j_kg, 0.0, 1.0)); }

// Returns the same number at both ends: products and sums of two are commutative.
float pair_conductivity(float k_i, float k_j) { return 2.0 * k_i * k_j / (k_i + k_j); }

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    float t = temperature[i];
    float k = conductivity_of(enthalpy[i]);
    uvec3 home = home_of(conduction.grid, key[i]);
    float sum = 0.0;
    FOR_EACH_CANDIDATE_IN(cell_start, conduction.grid, home, j) {
        float warmth = warmth_from(conduction, x, t, predicted[j], temperature[j]);
        if (warmth != 0.0) sum += pair_conductivity(k, conductivity_of(enthalpy[j])) * warmth;
    }
    FOR_EACH_CANDIDATE_IN(other_cell_start, conduction.grid, home, j) {
        float warmth = warmth_from(conduction, x, t, other_predicted[j], other_temperature[j]);
        if (warmth != 0.0) sum += pair_conductivity(k, conductivity_of(other_enthalpy[j])) * warmth;
    }
    float h = enthalpy[i] + heating * sum;
    conducted_enthalpy[i] = h;
    conducted[i] = freezing_c + min(h, 0.0) / snow_capacity_j_kg_k + max(h - latent_heat_j_kg, 0.0) / water_capacity_j_kg_k;
}
