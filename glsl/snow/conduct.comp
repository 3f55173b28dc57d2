#version 460
// Conducts heat by temperature, the paper's variant (Chen2021 eq 6.1):  T_i ← T_i + Δt/(ρ_i c_i) Σ_j V_j
// k_ij (T_j − T_i) ∇²W(x_ij), with the weights of pairs in conduction.glsl. Behind a face of the temperature
// T_f an image has the temperature 2 T_f − T_j, so that linear profiles end at T_f.
//
// Bytes: 28 a particle (x* 12, key 4, row 4, T 4 + 4; corrected 52) plus rows and neighbours from cache,
// images from cells. Sums run in sorted order.
// Elements: correction = threads * IS_CORRECTED, other_correction = threads * IS_CORRECTED.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "snow/conduction.glsl"

layout(constant_id = 1) const uint IS_CORRECTED = 1;
// 0 for a phase without another.
layout(constant_id = 2) const uint HAS_OTHER = 1;
// 1 if the temperature of some faces is fixed.
layout(constant_id = 3) const uint HAS_FIXED_FACES = 0;

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
layout(scalar, binding = 11) readonly buffer Rows { uint rows[]; };
layout(scalar, push_constant) uniform Params {
    Conduction conduction;
    // Δt/(ρ_i h²) · V/h³ · 45/π of water's V, by Fourier's law calibrated to the lattice, over the heat
    // capacity.
    float heating;
    // k between two particles of this phase, and between one of either, times the neighbour's volume over
    // water's.
    float own_w_m_k;
    float cross_w_m_k;
    // Temperatures of the lower and of the upper faces, and a bit for each lower, then for each upper face
    // that has one.
    vec3 lower_c;
    vec3 upper_c;
    uint fixed_faces;
    // Flag in the rows, or INVALID_INDEX where there are none.
    uint row_flag;
};
#include "pbd/neighbours.glsl"

// Returns the temperature of an image: at an edge, the faces have the mean of their temperatures.
float image_temperature(uvec3 sides, float t) {
    if (HAS_FIXED_FACES == 0u) return t;
    uint n_fixed = 0u;
    float sum = 0.0;
    [[unroll]] for (int axis = 0; axis < 3; ++axis) {
        int face = sides[axis] == 1u ? axis : axis + 3;
        if (sides[axis] == 0u || bitfieldExtract(fixed_faces, face, 1) == 0u) continue;
        n_fixed += 1u;
        sum += sides[axis] == 1u ? lower_c[axis] : upper_c[axis];
    }
    return (n_fixed & 1u) == 0u ? t : 2.0 * sum / float(n_fixed) - t;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    float t = temperature[i];
    uvec3 home = home_of(conduction.grid, key[i]);
    Row row = row_of(i, row_flag);
    float own = 0.0;
    float between = 0.0;
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
                own += (image_temperature(image.sides, temperature[j]) - t) * weight;
            }
            if (HAS_OTHER == 0u) continue;
            FOR_EACH_NEIGHBOUR_IN(here, here.other, other_cell_start, conduction.grid, cells, k) {
                uint j = NEIGHBOUR_AT(here, k);
                vec3 offset = offset_from(reflection, conduction.inverse_h, x, other_predicted[j]);
                if (squared_length(offset) >= 1.0) continue;
                float weight = weight_of(conduction, offset, reflection.sign, b, other_correction[j]);
                between += (image_temperature(image.sides, other_temperature[j]) - t) * weight;
            }
        }
    } else {
        FOR_EACH_NEIGHBOUR(row, row.own, cell_start, conduction.grid, home, k) {
            uint j = NEIGHBOUR_AT(row, k);
            own += warmth_from(conduction, x, t, predicted[j], temperature[j]);
        }
        if (HAS_OTHER != 0u) {
            FOR_EACH_NEIGHBOUR(row, row.other, other_cell_start, conduction.grid, home, k) {
                uint j = NEIGHBOUR_AT(row, k);
                between += warmth_from(conduction, x, t, other_predicted[j], other_temperature[j]);
            }
        }
    }
    conducted[i] = t + heating * (own_w_m_k * own + cross_w_m_k * between);
}
