#version 460
// Describes the first fault, by the first thread; nothing has changed since. Each further thread ends a step
// for the load on a named body: it adds the step, unless there is a fault, and resets the sums of impulses.
//
// Bytes: 64, and 176 a named body. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
#include "mpm/terms.glsl"
#include "mpm/tensors.glsl"
#include "common/clock.glsl"
#include "mpm/fault.glsl"
#include "linalg/matrix.glsl"
#include "common/body_load.glsl"

layout(scalar, binding = 0) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer Id { uint id[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 5) readonly buffer Elastic { float elastic[]; };
layout(scalar, binding = 6) buffer Fault { MpmFault fault[]; };
layout(scalar, binding = 7) buffer Sums { uint sums[]; };
layout(scalar, binding = 8) buffer Loads { BodyLoad loads[]; };
layout(scalar, binding = 9) readonly buffer Clock { StepClock clock[]; };
layout(scalar, push_constant) uniform Params {
    uint n_loads;
};

#include "common/fixed.glsl"

void end_step_of_load(uint k, bool is_sound) {
    vec3 impulse = force_sum(k) / terms[0].quanta_per_n_s;
    vec3 angular_impulse = torque_sum(k) / terms[0].quanta_per_n_s;
    clear_wrench(k);
    if (!is_sound) return;
    float dt_s = terms[0].dt_s;
    BodyLoad load = loads[k];
    add_step(load, impulse / dt_s, angular_impulse / dt_s, impulse, angular_impulse);
    loads[k] = load;
}

void main() {
    uint thread = thread_idx();
    if (thread > 0u) {
        if (thread <= n_loads) end_step_of_load(thread - 1u, clock[0].fault_step == INVALID_INDEX);
        return;
    }
    // A particle's state is read only if there is a fault.
    RARELY(clock[0].fault_step != INVALID_INDEX) {
        uint p = fault[0].place;
        fault[0].kind = GRID_FULL;
        if (p == INVALID_INDEX) return;
        mat3 f = LOAD_MATRIX(elastic, p, 1.0);
        float determinant = dot(f[0], cross(f[1], f[2]));
        fault[0].id = id[p];
        fault[0].key = key[p];
        fault[0].position_m = position[p];
        fault[0].velocity_m_s = velocity[p];
        fault[0].determinant = determinant;
        vec3 moved = abs(terms[0].dt_s * velocity[p]);
        bool is_slow = max(moved.x, max(moved.y, moved.z)) <= terms[0].cell_m;
        fault[0].kind = !is_finite_vector(velocity[p]) ? NODE_NOT_FINITE
                        : !is_finite(magnitude_bits(f)) ? STRAIN_NOT_FINITE
                        : is_slow                       ? INVERTED
                                                        : TOO_FAST;
    }
}
