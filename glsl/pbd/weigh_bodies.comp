#version 460
// What bodies cut off of the kernel of each particle (pbd/cut_off.glsl): h times the gradient, and the share. Density constraints add it to what the
// walls of the domain cut off.
//
// Bytes: 28 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_MESHES = 0;
const uint DIMENSIONS = 3u;
#include "pbd/body_terms.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { BodyTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Steps { uint steps[]; };
layout(scalar, binding = 3) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 4) readonly buffer Heights { float heights[]; };
layout(scalar, binding = 5) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 6) writeonly buffer CutOff { vec4 cut_off[]; };
layout(scalar, push_constant) uniform Params {
    // 1 within a step, 0 between steps.
    uint ahead;
};
#include "common/surfaces.glsl"
#include "pbd/cut_off.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    BodyTerms t = terms[0];
    float time_s = step_time_s(steps[0], ahead, t.dt_s);
    vec3 x = predicted[i];
    vec4 cut = vec4(0.0);
    [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k)
        cut = both_cut_off(cut, cut_off_by(t.up_axis, bodies[k], x, time_s, t.support_m, t.walls.fraction_scale));
    cut_off[i] = cut;
}
