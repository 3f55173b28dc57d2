#version 460
// Computes the maximum number of links of each snow particle at its temperature (Chen2021 eq 6.8, rounded to
// nearest and clamped to 0 … n_max):
//   limit = n_constant + round(n_max · (T_freeze − T)/(T_freeze − T_homo)),
// and 0 above the linking temperature (eq 6.7) or for NaN. The printed form rounds the quotient before it
// multiplies, and so gives only 0 and n_max.
//
// Bytes: 8 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 2) writeonly buffer Limit { uint limit[]; };
layout(scalar, push_constant) uniform Params {
    float link_temperature_c;
    float freeze_temperature_c;
    // T_freeze − T_homo in °C, and n_max over that; both 0 where the limit does not depend on temperature.
    float freeze_span_c;
    float links_per_c;
    // Number of links at any temperature.
    uint n_constant;
    uint n_max;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    limit[i] = 0u;
    if (!(temperature[i] <= link_temperature_c)) return;
    precise float cooling_c = clamp(freeze_temperature_c - temperature[i], 0.0, freeze_span_c);
    precise float links = cooling_c * links_per_c;
    limit[i] = min(n_constant + uint(floor(links + 0.5)), n_max);
}
