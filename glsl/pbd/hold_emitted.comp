#version 460
// Marks the particles in the pipes of emitters: they keep the velocity of the flow in this step, and have no
// pressure of their own.
//
// Bytes: 16 a particle, and 16 of each that is held. Order-independent.
// Elements: velocity = 0, multiplier = 0, emitters = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "sources/sources.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Emitters { Emitter emitters[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) writeonly buffer Held { uint held[]; };
layout(scalar, binding = 4) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 5) buffer Multiplier { float multiplier[]; };
layout(scalar, push_constant) uniform Params { float spacing_m; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = position[i];
    uint is_held = 0u;
    [[dont_unroll]] for (uint e = 0u; e < emitters.length(); ++e) {
        if (!is_in_pipe(emitters[e], x, 0.5 * spacing_m)) continue;
        is_held = 1u;
        velocity[i] = emitters[e].speed_m_s * emitters[e].flow;
        multiplier[i] = 0.0;
    }
    held[i] = is_held;
}
