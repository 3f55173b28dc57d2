#version 460
// Computes the current density of particles, ρ = m/(V⁰ J_E J_P), for rendering and output. Bytes: 4 (4 + D²)
// a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
#include "mpm/tensors.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Mass { float mass[]; };
layout(scalar, binding = 2) readonly buffer Volume { float volume[]; };
layout(scalar, binding = 3) readonly buffer PlasticVolume { float plastic_volume[]; };
layout(scalar, binding = 4) readonly buffer Elastic { float elastic[]; };
layout(scalar, binding = 5) writeonly buffer Density { float density[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    mat3 f = LOAD_MATRIX(elastic, i, 1.0);
    density[i] = mass[i] / (volume[i] * dot(f[0], cross(f[1], f[2])) * plastic_volume[i]);
}
