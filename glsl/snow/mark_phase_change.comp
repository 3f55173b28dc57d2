#version 460
// Marks particles that change phase: α grows (Chen2021 eq 6.2), and a particle whose α is past the threshold
// (eq 6.4) leaves its phase if it is too warm for snow or too cold for water.
//
// With an enthalpy column, `heat` holds specific enthalpies instead of temperatures and the threshold is the
// latent heat: a particle leaves when it has released or absorbed all its latent heat, to the last bit, so
// that it cannot return at once. At the freezing temperature itself, which is the same for both phases, no
// particle leaves.
// Bytes: 16 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Heat { float heat[]; };
layout(scalar, binding = 2) buffer Blend { float blend[]; };
layout(scalar, binding = 3) writeonly buffer Leaves { uint leaves[]; };
layout(scalar, push_constant) uniform Params {
    float blend_speed;
    float blend_threshold;
    // Limit in °C, or J/kg. A solid leaves above it, a fluid below.
    float limit;
    uint is_solid;
    uint has_enthalpy;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    float alpha = min(blend[i] + blend_speed, 1.0);
    blend[i] = alpha;
    bool beyond = is_solid != 0u ? heat[i] > limit : heat[i] < limit;
    beyond = beyond || (has_enthalpy != 0u && heat[i] == limit);
    leaves[i] = alpha > blend_threshold && beyond ? 1u : 0u;
}
