#version 460
// Moves fed particles as in a pipe: those that begin the step beyond the mouth have x* = x + Δt V, within the
// domain, and u = V, whatever the constraints did to them. They still act on others as neighbours.
//
// Bytes: 40 a particle, and 36 of each that is fed. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "pbd/motion.glsl"
#include "viscoelastic/terms.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { ViscoelasticTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) writeonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) writeonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 5) readonly buffer Residual { vec3 residual_m[]; };
layout(scalar, push_constant) uniform Params {
    // V.
    vec3 velocity_m_s;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    ViscoelasticTerms t = terms[0];
    vec3 x = position[i];
    if (!is_fed(t, x)) return;
    // Its residual is that of predict.comp, since it had the same velocity.
    vec3 moved_m = moved(x, residual_m[i], velocity_m_s, t.dt_s);
    predicted[i] = clamp(moved_m, t.domain_min_m, t.domain_max_m);
    updated[i] = velocity_m_s;
}
