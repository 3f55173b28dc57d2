#version 460
// Conducts heat by specific enthalpy, with true latent heat:
//   H_i ← H_i + Δt/ρ_i Σ_j V_j (φ_j − φ_i) ∇²W(x_ij),
// with the weights of pairs in conduction.glsl, and
//   T = T_f + H/c_snow below 0,  T_f from 0 to L,  T_f + (H − L)/c_water above,
// in either phase: the phase follows from the enthalpy, not vice versa, and ΣmH is conserved.
//   φ = k_snow (T − T_f) below T_f,  k_water (T − T_f) above,
// is Kirchhoff's transform ∫ k dT (Alexiades1993): a particle that melts or freezes is at T_f, so that all
// of the difference between it and a neighbour lies in the neighbour's material, and the flux has the
// neighbour's conductivity.
//
// Bytes: 36 a particle (x* 12, key 4, row 4, T 4 + 4, H 4 + 4; corrected 60) plus rows and neighbours from
// cache, images from cells. Sums run in sorted order.
// Elements: correction = threads * IS_CORRECTED, other_correction = threads * IS_CORRECTED.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "snow/conduction.glsl"

layout(constant_id = 1) const uint IS_CORRECTED = 1;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 5) readonly buffer Enthalpy { float enthalpy[]; };
layout(scalar, binding = 6) readonly buffer Corrections { Correction correction[]; };
layout(scalar, binding = 7) readonly buffer OtherCellStart { uint other_cell_start[]; };
layout(scalar, binding = 8) readonly buffer OtherPredicted { vec3 other_predicted[]; };
layout(scalar, binding = 9) readonly buffer OtherTemperature { float other_temperature[]; };
layout(scalar, binding = 10) readonly buffer OtherCorrections { Correction other_correction[]; };
layout(scalar, binding = 11) writeonly buffer Conducted { float conducted[]; };
layout(scalar, binding = 12) writeonly buffer ConductedEnthalpy { float conducted_enthalpy[]; };
layout(scalar, binding = 13) readonly buffer Rows { uint rows[]; };
layout(scalar, push_constant) uniform Params {
    Conduction conduction;
    // Δt/(ρ_i h²) · V/h³ · 45/π of water's V, calibrated to the lattice.
    float heating;
    // Volumes of particles of this phase and of the other, over that of water.
    float own_volume;
    float other_volume;
    float freezing_c;
    float snow_capacity_j_kg_k;
    float water_capacity_j_kg_k;
    float latent_heat_j_kg;
    float snow_w_m_k;
    float water_w_m_k;
    // Flag in the rows, or INVALID_INDEX where there are none.
    uint row_flag;
};
#include "pbd/neighbours.glsl"

// Returns φ in W/m.
float potential_of(float t) {
    precise float above = t - freezing_c;
    return above * (above < 0.0 ? snow_w_m_k : water_w_m_k);
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    float potential = potential_of(temperature[i]);
    uvec3 home = home_of(conduction.grid, key[i]);
    Row row = row_of(i, row_flag);
    float sum = 0.0;
    if (IS_CORRECTED != 0u) {
        Correction b = correction[i];
        Faces faces = near_faces(conduction, home);
        uint n_places = place_count(faces);
        [[dont_unroll]] for (uint place = 0u; place < n_places; ++place) {
            Image image = image_of(conduction, faces, home, place);
            Reflection reflection = reflection_at(conduction, image);
            Row here = place == 0u ? row : no_row();
            Cells cells = here.is_listed ? Cells(uvec3(0u), uvec3(0u)) : image.cells;
            FOR_EACH_NEIGHBOUR_IN(here, here.own, cell_start, conduction.grid, cells, k) {
                uint j = NEIGHBOUR_AT(here, k);
                vec3 offset = offset_from(reflection, conduction.inverse_h, x, predicted[j]);
                if (squared_length(offset) >= 1.0) continue;
                float weight = weight_of(conduction, offset, reflection.sign, b, correction[j]);
                sum += own_volume * (potential_of(temperature[j]) - potential) * weight;
            }
            FOR_EACH_NEIGHBOUR_IN(here, here.other, other_cell_start, conduction.grid, cells, k) {
                uint j = NEIGHBOUR_AT(here, k);
                vec3 offset = offset_from(reflection, conduction.inverse_h, x, other_predicted[j]);
                if (squared_length(offset) >= 1.0) continue;
                float weight = weight_of(conduction, offset, reflection.sign, b, other_correction[j]);
                sum += other_volume * (potential_of(other_temperature[j]) - potential) * weight;
            }
        }
    } else {
        FOR_EACH_NEIGHBOUR(row, row.own, cell_start, conduction.grid, home, k) {
            uint j = NEIGHBOUR_AT(row, k);
            sum += own_volume * warmth_from(conduction, x, potential, predicted[j], potential_of(temperature[j]));
        }
        FOR_EACH_NEIGHBOUR(row, row.other, other_cell_start, conduction.grid, home, k) {
            uint j = NEIGHBOUR_AT(row, k);
            float other = potential_of(other_temperature[j]);
            sum += other_volume * warmth_from(conduction, x, potential, other_predicted[j], other);
        }
    }
    float h = enthalpy[i] + heating * sum;
    conducted_enthalpy[i] = h;
    conducted[i] = freezing_c + min(h, 0.0) / snow_capacity_j_kg_k +
        max(h - latent_heat_j_kg, 0.0) / water_capacity_j_kg_k;
}
