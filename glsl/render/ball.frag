#version 460
// The fragment stage intersects the view ray with the sphere, like that of `particles`.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/imposter.glsl"
#include "render/shade.glsl"
#include "render/light_terms.glsl"
#include "render/ball.glsl"

layout(scalar, binding = 0) readonly buffer Light { LightTerms light_terms[]; };
layout(scalar, binding = 1) readonly buffer OpaqueShadow { float opaque_shadow[]; };
layout(scalar, binding = 2) readonly buffer FluidShadow { float fluid_shadow[]; };
#include "render/sun_shadow.glsl"

layout(location = 0) in vec3 ray;
layout(location = 0) out vec4 pixel;
layout(depth_less) out float gl_FragDepth;

void main() {
    vec3 center = ball_center - view.eye;
    vec3 hit;
    if (!imposter_hit(view, ray, center, radius, hit)) discard;
    if (is_too_near(view, hit)) discard;
    gl_FragDepth = depth_at(view, hit);
    vec3 normal = (hit - center) / radius;
    vec3 shown =
        shadowed(lit(color, normal, toward_viewer(view, hit), view), sunlight(view, hit, normal, 0.0));
    pixel = vec4(fogged(shown, fog, length(hit)), 1.0);
}
