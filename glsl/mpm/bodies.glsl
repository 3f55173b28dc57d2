// Effect of surfaces, which are bodies and the walls of the domain, on the velocities and positions of snow.
//
// Needs buffers `bodies` of Body and `body_data` of float, the constant ONLY_STICKY, which is 1 if other
// surfaces than sticky ones do not act, and, for its macros, the constant HAS_BODIES; without bodies no
// instruction is spent on them.
#ifndef MPM_BODIES
#define MPM_BODIES
#include "common/surfaces.glsl"
#include "mpm/walls.glsl"

// Collides a velocity at x with all bodies that are at most `reach_m` away, the walls of the domain last;
// runs a statement after each collision with a body.
#define COLLIDE_AND(terms, x_m, reach_m, time_s, v, statement)                                           \
    if (HAS_BODIES != 0u) for (uint k_ = 0u; k_ < terms.n_bodies; ++k_) {                                \
        Body body_ = bodies[k_];                                                                         \
        Pose pose_ = pose_of(body_, time_s);                                                             \
        vec4 surface_ = surface_of(terms.up_axis, body_, pose_, x_m);                                    \
        if (surface_.w <= reach_m && (ONLY_STICKY == 0u || body_.is_sticky != 0u)) {                     \
            vec3 before_ = v;                                                                            \
            vec3 moving_ = velocity_of(body_, pose_, x_m);                                               \
            v = collide(v, surface_.xyz, moving_, body_.friction, body_.is_sticky != 0u);                \
            statement;                                                                                   \
        }                                                                                                \
    }                                                                                                    \
    v = collide_with_walls(terms, x_m, reach_m, v)

#define COLLIDE(terms, x_m, reach_m, time_s, v) COLLIDE_AND(terms, x_m, reach_m, time_s, v, {})

// Collides the velocity of a mass, and adds the impulse of each collision to the sums of the body. Needs the
// constant HAS_NAMED_BODIES, without which nothing is added, and common/fixed.glsl.
#define COLLIDE_AND_MEASURE(terms, x_m, reach_m, time_s, mass_kg, v)                                     \
    COLLIDE_AND(terms, x_m, reach_m, time_s, v,                                                          \
                if (HAS_NAMED_BODIES != 0u && before_ != v)                                              \
                    add_impulse_on_body(k_, terms.first_named, (mass_kg) * (before_ - v),                \
                                        x_m - torque_centre(body_, pose_), terms.quanta_per_n_s))

// Pushes a position out of all bodies, and back into the domain (Cai2020 step 8).
#define PUSH_OUT(terms, x_m, time_s)                                                                     \
    if (HAS_BODIES != 0u) for (uint k_ = 0u; k_ < terms.n_bodies; ++k_) {                                \
        vec4 surface_ = surface_of(terms.up_axis, bodies[k_], x_m, time_s);                              \
        x_m -= min(surface_.w, 0.0) * surface_.xyz;                                                      \
    }                                                                                                    \
    x_m = kept_in_domain(terms, x_m)

#endif
