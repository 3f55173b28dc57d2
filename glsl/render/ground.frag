#version 460
// The fragment stage draws grid lines of one pixel at any distance, and fades with distance from the origin.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/light_terms.glsl"
#include "render/ground.glsl"

layout(scalar, binding = 0) readonly buffer Light { LightTerms light_terms[]; };
layout(scalar, binding = 1) readonly buffer OpaqueShadow { float opaque_shadow[]; };
layout(scalar, binding = 2) readonly buffer FluidShadow { float fluid_shadow[]; };
#include "render/sun_shadow.glsl"

layout(location = 0) in vec2 in_plane;
layout(location = 0) out vec4 pixel;

// Returns the coverage of this pixel by lines `every` metres apart.
float lines(float every) {
    vec2 at = in_plane / every;
    vec2 pixels = abs(at - round(at)) / fwidth(at);
    // Lines are faded out where cells shrink below a few pixels, since they would flicker.
    vec2 far_off = clamp(0.35 / fwidth(at) - 1.0, 0.0, 1.0);
    vec2 covered = clamp(1.0 - pixels, 0.0, 1.0) * far_off;
    return max(covered.x, covered.y);
}

void main() {
    float fade = 1.0 - smoothstep(0.25, 1.0, length(in_plane) / extent);
    if (fade <= 0.0) discard;
    float is_dark = dot(color, vec3(0.2126, 0.7152, 0.0722)) < 0.5 ? 1.0 : -1.0;
    float line = max(0.45 * lines(cell), lines(5.0 * cell));
    vec3 from_eye = origin + in_plane.x * across + in_plane.y * along - view.eye;
    float arriving = sunlight(view, from_eye, normalize(cross(along, across)), 0.0);
    pixel = vec4(shadowed(color + is_dark * 0.11 * line, arriving), fade);
}
