#version 460
// Distances of the nearest surfaces of a fluid's particles, drawn as ellipsoids, like fluid_depth of spheres.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/imposter.glsl"
#include "render/ellipsoid.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Ellipsoids { Ellipsoid ellipsoid[]; };
#include "render/fluid_particle.glsl"

layout(location = 0) out vec3 ray;
layout(location = 1) flat out vec3 center;
layout(location = 2) flat out vec3 diagonal;
layout(location = 3) flat out vec3 off_diagonal;

void main() {
    uint particle_idx = uint(gl_VertexIndex) / 6u;
    gl_Position = NOWHERE;
    ray = vec3(0.0);
    center = vec3(0.0);
    diagonal = vec3(0.0);
    off_diagonal = vec3(0.0);
    if (particle_idx >= count[0]) return;
    Ellipsoid e = ellipsoid[particle_idx];
    center = e.center - view.eye;
    if (!imposter_visible(view, center, e.reach_m)) return;
    diagonal = e.diagonal;
    off_diagonal = e.off_diagonal;
    ray = imposter_corner(view, center, e.reach_m, quad_corner(uint(gl_VertexIndex) % 6u));
    gl_Position = clip_position(view, ray);
}
