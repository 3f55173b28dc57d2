#version 460
// Starts the displacement of each snow particle by the domain's walls in this step with that in the
// prediction, confine(x + Δt v) − (x + Δt v). Solving springs needs it: walls displace by what the forces
// press into them in balance, not by the sum over iterations.
//
// Bytes: 36 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "snow/terms.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) readonly buffer Terms { SnowTerms all_terms[]; };
layout(scalar, binding = 4) writeonly buffer Push { vec3 push_m[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    SnowTerms terms = all_terms[0];
    precise vec3 step_m = terms.dt_s * velocity[i];
    precise vec3 unconfined = position[i] + step_m;
    push_m[i] = confine(terms.walls, unconfined) - unconfined;
}
