#version 460
// The fragment stage cuts the chord off at the opaque point that the pixel shows.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/screen.glsl"
#include "render/imposter.glsl"

layout(scalar, binding = 2) readonly buffer SceneDepth { float scene_depth[]; };
#include "render/fluid_particle.glsl"

layout(location = 0) in vec3 ray;
layout(location = 1) flat in vec3 center;
layout(location = 0) out float thickness;

void main() {
    vec3 hit;
    if (!imposter_hit(view, ray, center, radius, hit)) discard;
    vec3 direction = has_perspective(view) ? normalize(ray) : view.forward;
    float chord = 2.0 * dot(direction, center - hit);
    uvec2 at = uvec2(gl_FragCoord.xy);
    // Distances are along `forward`, lengths along the ray.
    float z_scene = distance_of_depth(view, scene_depth[at.y * width + at.x]);
    float free = (z_scene - dot(hit, view.forward)) / dot(direction, view.forward);
    thickness = chord_factor * clamp(free, 0.0, chord);
}
