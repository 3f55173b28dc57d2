#version 460
// Optical depth of suspended powder along the line of sight, and its light: the sum over particles of puffs
// whose density falls smoothly to 0 at their radius.
//
// A particle of speed v above the onset v0 carries a share 1 − (v0/v)² of the full load, the excess of the
// drag on its surface over that at the onset. The optical depth of a puff integrates over the plane across
// the ray to its extinction cross-section. The particles are those of one state: a puff has no history.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/imposter.glsl"
#include "render/shade.glsl"
#include "render/light_terms.glsl"
#include "render/powder.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Positions { vec3 positions[]; };
layout(scalar, binding = 2) readonly buffer Velocities { vec3 velocities[]; };
layout(scalar, binding = 4) readonly buffer Light { LightTerms light_terms[]; };
layout(scalar, binding = 5) readonly buffer OpaqueShadow { float opaque_shadow[]; };
layout(scalar, binding = 6) readonly buffer FluidShadow { float fluid_shadow[]; };
#include "render/sun_shadow.glsl"

layout(location = 0) out vec3 ray;
layout(location = 1) flat out vec3 center;
layout(location = 2) flat out float load;
layout(location = 3) flat out float arriving;

float share_of_load(uint particle_idx) {
    if (onset_speed < 0.0) return 1.0;
    vec3 v = velocities[particle_idx];
    float squared = dot(v, v);
    return squared > onset_speed * onset_speed ? 1.0 - onset_speed * onset_speed / squared : 0.0;
}

void main() {
    uint particle_idx = uint(gl_VertexIndex) / 6u;
    gl_Position = NOWHERE;
    ray = vec3(0.0);
    center = vec3(0.0);
    load = 0.0;
    arriving = 0.0;
    if (particle_idx >= count[0]) return;
    load = extinction * share_of_load(particle_idx);
    if (load <= 0.0) return;
    center = positions[particle_idx] + lift * axis_vector(up_axis) - view.eye;
    if (!imposter_visible(view, center, radius)) return;
    // Towards the sun the bias of a surface is that of its shadow only.
    arriving = sunlight(view, center, light_terms[0].to_sun, light_terms[0].shadow_bias);
    ray = imposter_corner(view, center, radius, quad_corner(uint(gl_VertexIndex) % 6u));
    gl_Position = clip_position(view, ray);
}
