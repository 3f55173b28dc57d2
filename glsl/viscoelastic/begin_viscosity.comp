#version 460
// Starts implicit viscosity from the impulse of the last step: v = u + Δ, and v = u of fed particles.
//
// Bytes: 48 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "viscoelastic/terms.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 2) readonly buffer Impulse { vec3 impulse[]; };
layout(scalar, binding = 3) readonly buffer Terms { ViscoelasticTerms terms[]; };
layout(scalar, binding = 4) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 5) writeonly buffer Velocity { vec3 velocity[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    velocity[i] = updated[i] + (is_fed(terms[0], predicted[i]) ? vec3(0.0) : impulse[i]);
}
