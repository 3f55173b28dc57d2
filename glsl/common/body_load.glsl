#ifndef COMMON_BODY_LOAD
#define COMMON_BODY_LOAD
#include "common/vectors.glsl"

// Load on a body: force, torque and impulse of particles. Torques are about the body's torque_centre
// (common/motion.glsl).
struct BodyLoad {
    // Force in the last step, and the maximum of its magnitude over all steps.
    vec3 force_n;
    float peak_n;
    vec3 torque_n_m;
    // Σ F Δt since the start, and its rounding error: a step adds far less than a long run has summed.
    vec3 impulse_n_s;
    vec3 impulse_rounding_n_s;
    vec3 angular_impulse_n_m_s;
    vec3 angular_rounding_n_m_s;
};

// Adds a step to a load.
void add_step(inout BodyLoad load, vec3 force_n, vec3 torque_n_m, vec3 impulse_n_s,
              vec3 angular_impulse_n_m_s) {
    load.force_n = force_n;
    load.peak_n = max(load.peak_n, sqrt(dot(force_n, force_n)));
    load.torque_n_m = torque_n_m;
    add_compensated(load.impulse_n_s, load.impulse_rounding_n_s, impulse_n_s);
    add_compensated(load.angular_impulse_n_m_s, load.angular_rounding_n_m_s, angular_impulse_n_m_s);
}

#endif
