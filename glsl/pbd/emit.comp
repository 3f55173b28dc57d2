#version 460
// Adds the particles of layers that appear before the step behind all others; count_emitted counts them.
// Emitters are in their order, and the points of each in theirs.
//
// Bytes: 12 a point, and 44 a particle that appears. Order-independent.
// Elements: position = 0, velocity = 0, id = 0, residual_m = 0, multiplier = 0, emitters = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/motion.glsl"
#include "pbd/sources.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 2) readonly buffer Emitters { Emitter emitters[]; };
layout(scalar, binding = 3) readonly buffer Points { vec3 points_m[]; };
layout(scalar, binding = 4) readonly buffer Counts { Emission emission[]; };
layout(scalar, binding = 5) buffer Position { vec3 position[]; };
layout(scalar, binding = 6) buffer Residual { vec3 residual_m[]; };
layout(scalar, binding = 7) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 8) buffer Id { uint id[]; };
layout(scalar, binding = 9) buffer Multiplier { float multiplier[]; };
layout(scalar, push_constant) uniform Params {
    uint n_points;
    uint capacity;
};

void main() {
    uint p = thread_idx();
    if (p >= n_points) return;
    StepClock now = clock[0];
    if (is_frozen(now)) return;
    uint n_before = 0u;
    // Bound: the emitters, of which one has the point.
    [[dont_unroll]] for (uint e = 0u; e < emitters.length(); ++e) {
        Emitter emitter = emitters[e];
        float moved_layers;
        bool begins = begins_layer(emitter, now.step, moved_layers);
        if (p - emitter.first_point < emitter.n_points) {
            uint place = n_before + p - emitter.first_point;
            uint i = count[0] + place;
            if (!begins || i >= capacity) return;
            vec3 rest_m;
            position[i] = moved(points_m[p], vec3(0.0), emitter.flow, moved_layers * emitter.layer_m, rest_m);
            residual_m[i] = rest_m;
            velocity[i] = emitter.speed_m_s * emitter.flow;
            id[i] = emission[0].next_id + place;
            multiplier[i] = 0.0;
            return;
        }
        if (begins) n_before += emitter.n_points;
    }
}
