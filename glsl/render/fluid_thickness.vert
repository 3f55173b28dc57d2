#version 460
// Thickness in m of a fluid along the line of sight, before whatever is opaque: the sum over particles of the
// chord of the view ray in the particle, scaled so that a particle's thickness integrates to its volume
// (Huang2016 section 3.5).
//
// The chords of a sphere of radius r integrate over the plane across the ray to 4πr³/3. Multiplied by the
// particle's volume over that of the sphere, they integrate to the former, whatever the radius; so the
// thickness of many particles is their volume per area, although drawn spheres overlap.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/imposter.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Positions { vec3 positions[]; };
layout(scalar, binding = 2) readonly buffer SceneDepth { float scene_depth[]; };
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
