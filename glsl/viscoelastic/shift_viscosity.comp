#version 460
// Computes the factor by which temperature shifts the viscosity of each particle (Andrade1930),
//   a = exp(B (1/T − 1/T_ref)) within its bounds, T in K,
// and writes it in the place of the viscosity, from where the update of the stress takes it
// (update_stress.comp).
//
// Bytes: 8 a particle. Order-independent.
// Elements: shape = threads * 2.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
// In °C.
layout(scalar, binding = 1) readonly buffer Temperature { float temperature[]; };
layout(scalar, binding = 2) buffer Shape { vec4 shape[]; };
layout(scalar, push_constant) uniform Params {
    // B, and T_ref in °C.
    float activation_k;
    float reference_c;
    float min_shift;
    float max_shift;
};

const float ZERO_C_K = 273.15;

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    float t = temperature[i];
    // 1/T − 1/T_ref without the loss of digits of a difference of reciprocals.
    float exponent = activation_k * (reference_c - t) / ((t + ZERO_C_K) * (reference_c + ZERO_C_K));
    shape[2u * i + 1u].w = clamp(exp(exponent), min_shift, max_shift);
}
