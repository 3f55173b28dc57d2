#version 460
// Applies the friction of snow on bodies (Chen2021 eq 5.22), relative to the displacement of the body in the
// step; friction on the domain's walls is applied by apply_friction. A sticky body carries along the snow
// that touches it. The opposite impulse acts on the body.
//
// The normal force follows from the displacement by bodies (pbd/project_out_of_bodies); of several, the last
// one applies friction.
// Bytes: 16 a particle, 64 more at a body. Sums of integers: order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BODY_KINDS = 0xe00df;
#include "common/clock.glsl"
#include "pbd/body_terms.glsl"
#include "common/body.glsl"
#include "snow/friction.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { BodyTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 3) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 4) readonly buffer BodyData { float body_data[]; };
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
    float time_s = substep_end_s(clock[0], t.dt_s);
    vec3 x = predicted[i];
    Pose before = pose_of(body, substep_start_s(clock[0], t.dt_s));
    vec3 slip_m = x - position[i] - t.dt_s * velocity_of(body, before, x);
    vec3 removed_m = slip_m;
    if (body.is_sticky == 0u) {
        bool has_own = body.friction >= 0.0;
        float static_friction = has_own ? body.friction : t.static_friction;
        float kinetic_friction = has_own ? body.friction : t.kinetic_friction;
        vec3 along_m = tangential(slip_m, pushed.xyz / pressed_m);
        removed_m = coulomb(along_m, pressed_m, static_friction, kinetic_friction);
    }
    removed_m *= contact[i].x;
    predicted[i] = x - removed_m;
    vec3 impulse = (t.particle_mass_kg / t.dt_s) * removed_m;
    vec3 arm = x - torque_centre(body, pose_of(body, time_s));
    add_impulse_on_body(k, t.first_named, impulse, arm, t.quanta_per_n_s);
}
