#version 460
// The fragment stage intersects the view ray with the ellipsoid, a unit sphere in coordinates G p.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/imposter.glsl"
#include "render/fluid_particle.glsl"

layout(location = 0) in vec3 ray;
layout(location = 1) flat in vec3 center;
layout(location = 2) flat in vec3 diagonal;
layout(location = 3) flat in vec3 off_diagonal;
layout(location = 0) out float z;
layout(depth_less) out float gl_FragDepth;

void main() {
    mat3 g = mat3(diagonal.x, off_diagonal.x, off_diagonal.y, off_diagonal.x, diagonal.y, off_diagonal.z,
                  off_diagonal.y, off_diagonal.z, diagonal.z);
    vec3 direction = has_perspective(view) ? normalize(ray) : view.forward;
    vec3 origin = has_perspective(view) ? vec3(0.0) : ray;
    // The nearest point of the ray to the sphere's middle, and the half chord, as in imposter_hit.
    vec3 along = g * direction;
    float stretch = dot(along, along);
    vec3 to_middle = g * (center - origin);
    float nearest = dot(along, to_middle) / stretch;
    vec3 across = to_middle - nearest * along;
    float half_chord_squared = (1.0 - dot(across, across)) / stretch;
    if (half_chord_squared < 0.0) discard;
    vec3 hit = origin + (nearest - sqrt(half_chord_squared)) * direction;
    if (is_too_near(view, hit)) discard;
    gl_FragDepth = depth_at(view, hit);
    z = dot(hit, view.forward);
}
