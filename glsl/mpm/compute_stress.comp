#version 460
// Computes the stress of particles in a given state, V⁰ τ (Breekveldt2017 eq 3.23); steps compute it
// themselves. Bytes: 4 (D² + 2 + D(D+1)/2) a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
#include "mpm/tensors.glsl"
#include "mpm/snow.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Volume { float volume[]; };
layout(scalar, binding = 3) readonly buffer Elastic { float elastic[]; };
layout(scalar, binding = 4) readonly buffer PlasticVolume { float plastic_volume[]; };
layout(scalar, binding = 5) writeonly buffer Stress { float stress[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    mat3 s = kirchhoff(terms[0], decompose(LOAD_MATRIX(elastic, i, 1.0)), plastic_volume[i], volume[i]);
    STORE_SYMMETRIC(stress, i, s);
}
