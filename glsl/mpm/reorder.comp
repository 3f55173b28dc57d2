#version 460
// The step's one permutation: moves all columns of particles to the order of their keys, moved[i] = column[order[i]].
//
// Bytes, with a the words of an affine velocity (D², or 0): 4 + 8 (6 + 4 + D² + D(D+1)/2 + a) a particle. Order-independent.
// Elements: elastic = threads * MATRIX_WORDS, stress = threads * SYMMETRIC_WORDS, affine = threads * MATRIX_WORDS.
// Elements: moved_elastic = threads * MATRIX_WORDS, moved_stress = threads * SYMMETRIC_WORDS, moved_affine = threads * MATRIX_WORDS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
layout(constant_id = 2) const uint HAS_AFFINE = 0;
#include "mpm/tensors.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) readonly buffer Id { uint id[]; };
layout(scalar, binding = 5) readonly buffer Mass { float mass[]; };
layout(scalar, binding = 6) readonly buffer Volume { float volume[]; };
layout(scalar, binding = 7) readonly buffer PlasticVolume { float plastic_volume[]; };
layout(scalar, binding = 8) readonly buffer Elastic { float elastic[]; };
layout(scalar, binding = 9) readonly buffer Stress { float stress[]; };
layout(scalar, binding = 10) readonly buffer Affine { float affine[]; };
layout(scalar, binding = 11) writeonly buffer MovedPosition { vec3 moved_position[]; };
layout(scalar, binding = 12) writeonly buffer MovedVelocity { vec3 moved_velocity[]; };
layout(scalar, binding = 13) writeonly buffer MovedId { uint moved_id[]; };
layout(scalar, binding = 14) writeonly buffer MovedMass { float moved_mass[]; };
layout(scalar, binding = 15) writeonly buffer MovedVolume { float moved_volume[]; };
layout(scalar, binding = 16) writeonly buffer MovedPlasticVolume { float moved_plastic_volume[]; };
layout(scalar, binding = 17) writeonly buffer MovedElastic { float moved_elastic[]; };
layout(scalar, binding = 18) writeonly buffer MovedStress { float moved_stress[]; };
layout(scalar, binding = 19) writeonly buffer MovedAffine { float moved_affine[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint from = order[i];
    moved_position[i] = position[from];
    moved_velocity[i] = velocity[from];
    moved_id[i] = id[from];
    moved_mass[i] = mass[from];
    moved_volume[i] = volume[from];
    moved_plastic_volume[i] = plastic_volume[from];
    for (uint k = 0u; k < MATRIX_WORDS; ++k) moved_elastic[MATRIX_WORDS * i + k] = elastic[MATRIX_WORDS * from + k];
    for (uint k = 0u; k < SYMMETRIC_WORDS; ++k) moved_stress[SYMMETRIC_WORDS * i + k] = stress[SYMMETRIC_WORDS * from + k];
    if (HAS_AFFINE != 0u)
        for (uint k = 0u; k < MATRIX_WORDS; ++k) moved_affine[MATRIX_WORDS * i + k] = affine[MATRIX_WORDS * from + k];
}
