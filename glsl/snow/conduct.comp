#version 460
// Conducts heat by temperature, the paper's variant (Chen2021 eq 6.1):  T_i ← T_i + Δt/(ρ c_i) Σ_j V k_ij
// (T_j − T_i) ∇²W(x_ij), with the weights of pairs in conduction.glsl.
//
// Bytes: 24 a particle (x* 12, key 4, T 4 + 4; corrected 48) plus neighbours from cache. Sums run in sorted
// order.
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
layout(scalar, binding = 5) readonly buffer Corrections { Correction correction[]; };
layout(scalar, binding = 6) readonly buffer OtherCellStart { uint other_cell_start[]; };
layout(scalar, binding = 7) readonly buffer OtherPredicted { vec3 other_predicted[]; };
layout(scalar, binding = 8) readonly buffer OtherTemperature { float other_temperature[]; };
layout(scalar, binding = 9) readonly buffer OtherCorrections { Correction other_correction[]; };
layout(scalar, binding = 10) writeonly buffer Conducted { float conducted[]; };
layout(scalar, push_constant) uniform Params {
    Conduction conduction;
    // Δt/(ρ h²) · V/h³ · 45/π, calibrated to the lattice, over the heat capacity.
    float heating;
    // k between two particles of this phase, and between one of either.
    float own_w_m_k;
    float cross_w_m_k;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    float t = temperature[i];
    uvec3 home = home_of(conduction.grid, key[i]);
    float own = 0.0;
    float between = 0.0;
    if (IS_CORRECTED != 0u) {
        Correction b = correction[i];
        Faces faces = near_faces(conduction, home);
        uint n_places = place_count(faces);
        [[dont_unroll]] for (uint place = 0u; place < n_places; ++place) {
            Image image = image_of(conduction, faces, home, place);
            Reflection reflection = reflection_at(conduction, image);
            FOR_EACH_IN_CELLS(cell_start, conduction.grid, image.cells, j) {
                vec3 offset = offset_from(reflection, conduction.inverse_h, x, predicted[j]);
                if (squared_length(offset) >= 1.0) continue;
                own += (temperature[j] - t) * weight_of(conduction, offset, reflection.sign, b, correction[j]);
            }
            FOR_EACH_IN_CELLS(other_cell_start, conduction.grid, image.cells, j) {
                vec3 offset = offset_from(reflection, conduction.inverse_h, x, other_predicted[j]);
                if (squared_length(offset) >= 1.0) continue;
                float weight = weight_of(conduction, offset, reflection.sign, b, other_correction[j]);
                between += (other_temperature[j] - t) * weight;
            }
        }
    } else {
        FOR_EACH_CANDIDATE_IN(cell_start, conduction.grid, home, j) {
            own += warmth_from(conduction, x, t, predicted[j], temperature[j]);
        }
        FOR_EACH_CANDIDATE_IN(other_cell_start, conduction.grid, home, j) {
            between += warmth_from(conduction, x, t, other_predicted[j], other_temperature[j]);
        }
    }
    conducted[i] = t + heating * (own_w_m_k * own + cross_w_m_k * between);
}
