#version 460
// Heat conduction by temperature, the paper's variant (000 eq 6.1):  T_i ← T_i + Δt/(ρ c_i) Σ_j V k_ij (T_j − T_i) ∇²W(x_ij).
//
// Bytes: 24 a particle (x* 12, key 4, T 4 + 4) plus neighbours from cache. Sums run in sorted order.
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
#include "snow/conduction.glsl"
layout(scalar, push_constant) uniform Params {
    Conduction conduction;
    // Δt/(ρ h²) · V/h³ · 45/π, made to fit the lattice, over the heat capacity: K/(W/m K · K).
    float heating;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    CONDUCTED(sum, conduction, i);
    conducted[i] = temperature[i] + heating * sum;
}
