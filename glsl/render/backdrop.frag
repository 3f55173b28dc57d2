#version 460
// The fragment stage shows the light from the direction of the pixel, and the sun's disc.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/screen.glsl"
#include "render/fluid_terms.glsl"
#include "render/image_pass.glsl"

layout(scalar, binding = 0) readonly buffer Surroundings { uint surroundings[]; };
layout(scalar, binding = 1) readonly buffer Terms { FluidTerms terms[]; };
#include "render/surroundings.glsl"

layout(location = 0) out vec4 pixel;

void main() {
    vec3 through = point_of_pixel(view, gl_FragCoord.xy, vec2(width, height), 1.0);
    vec3 direction = has_perspective(view) ? normalize(through) : view.forward;
    pixel = vec4(to_display(surrounding_light(direction)), 1.0);
}
