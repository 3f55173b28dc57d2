#version 460
// The fragment stage intersects the view ray with the particle.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/imposter.glsl"
#include "render/fluid_particle.glsl"

layout(location = 0) in vec3 ray;
layout(location = 1) flat in vec3 center;
layout(location = 0) out float z;
layout(depth_less) out float gl_FragDepth;

void main() {
    vec3 hit;
    if (!imposter_hit(view, ray, center, radius, hit)) discard;
    if (is_too_near(view, hit)) discard;
    gl_FragDepth = depth_at(view, hit);
    z = dot(hit, view.forward);
}
