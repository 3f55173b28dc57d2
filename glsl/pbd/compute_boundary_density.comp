#version 460
// Computes the boundary density of bodies (pbd/boundary_density.glsl) at each particle: h times its gradient,
// and its value over ρ₀. The density constraints add it to the contribution of the domain's walls.
//
// Bytes: 28 a particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BODY_KINDS = 0xdf;
layout(constant_id = 2) const uint HAS_MOTION = 1;
#define MOTION_IS_OPTIONAL
const uint DIMENSIONS = 3u;
#include "common/clock.glsl"
#include "pbd/body_terms.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { BodyTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 3) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 4) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 5) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 6) writeonly buffer BoundaryDensity { vec4 boundary_density[]; };
#include "common/surfaces.glsl"
#include "pbd/boundary_density.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    BodyTerms t = terms[0];
    float time_s = step_end_s(clock[0], t.dt_s);
    vec3 x = predicted[i];
    float scale = t.walls.fraction_scale;
    vec4 density = vec4(0.0);
    [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k) {
        vec4 added = boundary_density_of(t.up_axis, bodies[k], x, time_s, t.support_m, scale);
        density = combine_boundary_densities(density, added);
    }
    boundary_density[i] = density;
}
