#version 460
// Friction of snow on bodies (000 eq 5.22), relative to how far the body itself has moved in the step; on the domain's walls it is snow/rub's. A
// sticky body takes what touches it along. Its opposite acts on the body.
//
// The normal force is what the bodies have pushed the particle by (pbd/push_out); of several the last one rubs.
// Bytes: 16 a particle, 64 more at a body. Sums of integers: order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/body_terms.glsl"
#include "common/body.glsl"
#include "snow/friction.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { BodyTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Steps { uint steps[]; };
layout(scalar, binding = 3) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 4) readonly buffer Heights { float heights[]; };
layout(scalar, binding = 5) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 6) readonly buffer Contact { vec2 contact[]; };
layout(scalar, binding = 7) readonly buffer Push { vec4 push[]; };
layout(scalar, binding = 8) buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 9) buffer Sums { uint sums[]; };
#include "common/motion.glsl"
#include "common/fixed.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec4 pushed = push[i];
    float pressed_m = length(pushed.xyz);
    if (pushed.w == 0.0 || pressed_m == 0.0) return;
    BodyTerms t = terms[0];
    uint k = uint(pushed.w) - 1u;
    Body body = bodies[k];
    float time_s = step_time_s(steps[0], 1u, t.dt_s);
    vec3 x = predicted[i];
    vec3 slip_m = x - position[i] - t.dt_s * velocity_of(body, x, step_time_s(steps[0], 0u, t.dt_s));
    vec3 taken_m = slip_m;
    if (body.is_sticky == 0u) {
        bool is_given = body.friction >= 0.0;
        taken_m = coulomb(tangential(slip_m, pushed.xyz / pressed_m), pressed_m, is_given ? body.friction : t.static_friction,
                          is_given ? body.friction : t.kinetic_friction);
    }
    taken_m *= contact[i].x;
    predicted[i] = x - taken_m;
    vec3 given = (t.particle_mass_kg / t.dt_s) * taken_m;
    add_force(k, given, t.quanta_per_n_s);
    add_torque(k, cross(x - centre_of(body, time_s), given), t.quanta_per_n_s);
}
