#version 460
// Pulls the particles near a line, such as the ray through a pointer: within the radius R about it,
// velocities across the line approach u + (c − x)/τ, with c − x and u across the line. In a step, they take
// the share s w of the difference, with s = 1 − exp(−Δt/τ) and the weight w = (1 − r²/R²)² at the distance r
// from the line. That is a critically damped spring of the rate 1/τ, stable for any step. Nothing is pulled
// if the first word of `hold` is not INVALID_INDEX.
//
// Bytes: 36 a particle. Order-independent.
// Elements: hold = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 2) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) readonly buffer Hold { uint hold[]; };
layout(scalar, push_constant) uniform Params {
    // c, a point of the line, and the line's unit vector.
    vec3 centre_m;
    vec3 direction;
    // u, velocity of the line.
    vec3 velocity_m_s;
    // 1/R².
    float inverse_radius2_m2;
    // 1/τ.
    float rate_1_s;
    // s.
    float share;
};

vec3 across(vec3 v) { return v - dot(v, direction) * direction; }

void main() {
    uint i = thread_idx();
    if (i >= count[0] || hold[0] != INVALID_INDEX) return;
    vec3 to_line = across(centre_m - position[i]);
    float inside = 1.0 - dot(to_line, to_line) * inverse_radius2_m2;
    if (!(inside > 0.0)) return;
    vec3 missing = across(velocity_m_s - velocity[i]) + rate_1_s * to_line;
    velocity[i] += share * inside * inside * missing;
}
