#version 460
// The fragment stage returns black with the lost share of light as its alpha, for blending over the image.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/screen.glsl"
#include "render/fluid_terms.glsl"
#include "render/image_pass.glsl"

layout(scalar, binding = 0) readonly buffer SceneDepth { float scene_depth[]; };
layout(scalar, binding = 1) readonly buffer OpaqueShadow { float opaque_shadow[]; };
layout(scalar, binding = 2) readonly buffer FluidShadow { float fluid_shadow[]; };
layout(scalar, binding = 3) readonly buffer Terms { FluidTerms terms[]; };
#include "render/sun_shadow.glsl"

layout(location = 0) out vec4 pixel;

// Share of a point's light that comes from the sun, in display-encoded values.
const float SUN_SHARE = 0.42;

void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    float z = distance_of_depth(view, scene_depth[at.y * width + at.x]);
    if (!shows_surface(z)) discard;
    vec3 here = point_of_pixel(view, gl_FragCoord.xy, vec2(width, height), z);
    pixel = vec4(vec3(0.0), SUN_SHARE * (1.0 - sunlight(view, here)));
}
