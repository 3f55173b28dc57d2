#version 460
// Adds the particles of layers that appear before the step behind all others, with position, velocity and id;
// fill_emitted.comp adds their other columns, and count_emitted.comp counts them.
//
// Bytes: 12 a point, and 40 a particle that appears. Order-independent.
// Elements: position = 0, velocity = 0, id = 0, residual_m = 0, emitters = all.
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
layout(scalar, binding = 8) writeonly buffer Id { uint id[]; };
layout(scalar, push_constant) uniform Params {
    uint n_points;
    uint capacity;
};
#include "sources/new_particles.glsl"

void main() {
    uint p = thread_idx();
    if (p >= n_points) return;
    StepClock now = clock[0];
    if (is_frozen(now)) return;
    NewParticle own = new_particle(p, now.step);
    uint i = count[0] + own.place;
    if (!own.appears || i >= capacity) return;
    vec3 flow = emitters[own.emitter].flow;
    vec3 rest_m;
    position[i] = moved(points_m[p], vec3(0.0), flow, own.moved_m, rest_m);
    residual_m[i] = rest_m;
    velocity[i] = emitters[own.emitter].speed_m_s * flow;
    id[i] = emission[0].next_id + own.place;
}
