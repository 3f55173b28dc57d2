#version 460
// Adds the grains of layers that appear before the step behind all others, to the columns in the order of
// ids, without contacts; count_emitted.comp counts them. Their radii are spread evenly, and they are
// displaced within the room that they leave: on a lattice they would stack. Both follow from their ids.
//
// Bytes: 12 a point, and 60 a grain that appears. Order-independent.
// Elements: emitters = all, position = 0, velocity = 0, spin = 0, residual_m = 0, radius = 0, first_row = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/motion.glsl"
#include "sources/sources.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 2) readonly buffer Emitters { Emitter emitters[]; };
layout(scalar, binding = 3) readonly buffer Points { vec3 points_m[]; };
layout(scalar, binding = 4) readonly buffer Counts { Emission emission[]; };
layout(scalar, binding = 5) writeonly buffer Position { vec3 position[]; };
layout(scalar, binding = 6) writeonly buffer Residual { vec3 residual_m[]; };
layout(scalar, binding = 7) writeonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 8) writeonly buffer Spin { vec3 spin[]; };
layout(scalar, binding = 9) writeonly buffer Radius { float radius[]; };
// First row of the stored contacts of each grain, and the end of the last.
layout(scalar, binding = 10) buffer FirstRow { uint first_row[]; };
layout(scalar, push_constant) uniform Params {
    uint n_points;
    uint capacity;
    // Mean radius in m, and half of the width of the distribution over it.
    float radius_m;
    float radius_spread;
    // Half of the distance between points and between layers.
    float room_m;
};
#include "sources/new_particles.glsl"

// Returns a number from 0 to 1, another one for each k below 4 (O'Neill 2014, PCG-RXS-M-XS).
float unit_of(uint id, uint k) {
    uint state = (4u * id + k) * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return float(((word >> 22u) ^ word) >> 8u) * exp2(-24.0);
}

void main() {
    uint p = thread_idx();
    if (p >= n_points) return;
    StepClock now = clock[0];
    if (is_frozen(now)) return;
    NewParticle own = new_particle(p, now.step);
    uint n = count[0];
    uint id = n + own.place;
    if (!own.appears || id >= capacity) return;
    Emitter emitter = emitters[own.emitter];
    float r = radius_m * (1.0 + radius_spread * (2.0 * unit_of(id, 0u) - 1.0));
    // Within a ball of the room that the grain leaves.
    vec3 units = vec3(unit_of(id, 1u), unit_of(id, 2u), unit_of(id, 3u));
    vec3 shift = inversesqrt(3.0) * (room_m - r) * (2.0 * units - 1.0);
    vec3 along = (own.moved_m + shift.x) * emitter.flow;
    vec3 from_point = along + shift.y * emitter.side_a + shift.z * emitter.side_b;
    vec3 rest_m;
    position[id] = moved(points_m[p], vec3(0.0), from_point, 1.0, rest_m);
    residual_m[id] = rest_m;
    velocity[id] = emitter.speed_m_s * emitter.flow;
    spin[id] = vec3(0.0);
    radius[id] = r;
    first_row[id + 1u] = first_row[n];
}
