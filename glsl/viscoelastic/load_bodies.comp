#version 460
// Adds the impulse of implicit viscosity on bodies to their loads, with the velocities and couplings at the
// end of the solve: minus what each body gives to the particles (body_walls.glsl).
//
// Bytes: 108 a particle. Sums of integers: order-independent.
// Elements: shape = threads * 2, coupling = threads * 3.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BODY_KINDS = 0xe00df;
const uint DIMENSIONS = 3u;
#include "common/clock.glsl"
#include "grid/grid.glsl"
#include "pbd/body_terms.glsl"
#include "common/body.glsl"
#include "viscoelastic/terms.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { ViscoelasticTerms terms[]; };
layout(scalar, binding = 2) readonly buffer OfBodies { BodyTerms of_bodies[]; };
layout(scalar, binding = 3) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 4) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 5) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 6) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 7) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 8) readonly buffer Shape { vec4 shape[]; };
layout(scalar, binding = 9) readonly buffer Coupling { vec4 coupling[]; };
layout(scalar, binding = 10) buffer Sums { uint sums[]; };
#include "common/surfaces.glsl"
#include "common/fixed.glsl"
#include "viscoelastic/body_walls.glsl"
#include "viscoelastic/shape.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    ViscoelasticTerms t = terms[0];
    BodyTerms b = of_bodies[0];
    float time_s = substep_start_s(clock[0], b.dt_s);
    vec3 x = position[i];
    if (is_fed(t, x)) return;
    mat3 own = mat3(coupling[3u * i].xyz, coupling[3u * i + 1u].xyz, coupling[3u * i + 2u].xyz);
    Neighbourhood n = unpack_neighbourhood(shape[2u * i], shape[2u * i + 1u]);
    float viscosity_pa_s = viscosity_at_walls(n, t.unresolved_pa_s);
    float impulse_per_force = b.particle_mass_kg * t.dt_s / t.density_kg_m3;
    [[dont_unroll]] for (uint k = 0u; k < b.n_bodies; ++k) {
        Body body = bodies[k];
        Pose pose = pose_of(body, time_s);
        BodyWall wall = wall_of(b, body, pose, x);
        if (!(wall.moment_per_m > 0.0)) continue;
        vec3 relative = (velocity[i] - wall.velocity) / wall.distance_m;
        vec3 force = wall.moment_per_m * (own * wall.normal + viscosity_pa_s * relative);
        // The reaction is at the surface, so that angular momentum is kept.
        vec3 arm = x - wall.distance_m * wall.normal - torque_centre(body, pose);
        add_impulse_on_body(k, b.first_named, impulse_per_force * force, arm, b.quanta_per_n_s);
    }
}
