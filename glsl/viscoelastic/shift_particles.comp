#version 460
// Shifts particles at the end of a step by the displacements of shifting.glsl, within the domain: x* ← x* +
// δ. Velocities stay. Fed particles, which move as in a pipe, are not shifted.
//
// Bytes: 48 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "viscoelastic/terms.glsl"
#include "pbd/walls.glsl"

layout(constant_id = 1) const uint PERIODIC = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { ViscoelasticTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) readonly buffer Shift { vec3 shift[]; };
layout(scalar, binding = 4) buffer Predicted { vec3 predicted[]; };
layout(scalar, push_constant) uniform Params {
    Walls walls;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 step_m = shift[i];
    if (step_m == vec3(0.0) || is_fed(terms[0], position[i])) return;
    predicted[i] = confine(walls, PERIODIC, predicted[i] + step_m);
}
