#version 460
// Distances of the nearest surfaces of a fluid's particles, into an image of one float per pixel: the depth
// map of Huang2016 section 3.3, in m along the line of sight.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/imposter.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Positions { vec3 positions[]; };
#include "render/fluid_particle.glsl"

layout(location = 0) out vec3 ray;
layout(location = 1) flat out vec3 center;

void main() {
    uint particle_idx = uint(gl_VertexIndex) / 6u;
    gl_Position = NOWHERE;
    ray = vec3(0.0);
    center = vec3(0.0);
    if (particle_idx >= count[0]) return;
    center = positions[particle_idx] - view.eye;
    if (!imposter_visible(view, center, radius)) return;
    ray = imposter_corner(view, center, radius, quad_corner(uint(gl_VertexIndex) % 6u));
    gl_Position = clip_position(view, ray);
}
