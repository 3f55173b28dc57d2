#version 460
// The fragment stage shades hills by the sun: snow on gentle slopes, rock on steep ones.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/light_terms.glsl"
#include "render/terrain.glsl"

layout(scalar, binding = 1) readonly buffer Light { LightTerms light_terms[]; };
layout(scalar, binding = 2) readonly buffer OpaqueShadow { float opaque_shadow[]; };
layout(scalar, binding = 3) readonly buffer FluidShadow { float fluid_shadow[]; };
#include "render/sun_shadow.glsl"
#include "render/sunlit.glsl"
#include "render/snow_look.glsl"

layout(location = 0) in vec3 at;
layout(location = 1) in vec3 outwards;
layout(location = 0) out vec4 pixel;

// Display-encoded colours of old snow in the valley and on the peaks, and of rock. Old snow is darker than
// that of an avalanche.
const vec3 LOW_SNOW = vec3(0.79, 0.82, 0.86);
const vec3 HIGH_SNOW = vec3(0.87, 0.89, 0.92);
const vec3 LOW_ROCK = vec3(0.36, 0.34, 0.32);
const vec3 HIGH_ROCK = vec3(0.44, 0.43, 0.42);
// Cosines of the slopes, 55° and 42°, above which no snow stays and below which all does.
const float BARE = 0.5736;
const float COVERED = 0.7431;
const float WRAP = 0.0;

void main() {
    vec3 normal = normalize(outwards);
    float up = clamp((at.z - lowest_m) / max(highest_m - lowest_m, 1e-6), 0.0, 1.0);
    float snow = smoothstep(BARE, COVERED, normal.z);
    vec3 albedo = mix(mix(LOW_ROCK, HIGH_ROCK, up), mix(LOW_SNOW, HIGH_SNOW, up), snow);
    float footprint = max(length(dFdx(at)), length(dFdy(at)));
    vec3 from_eye = at - view.eye;
    vec3 to_sun = light_terms[0].to_sun;
    // No light of the sun falls on slopes that face away from it.
    float arriving = dot(normal, to_sun) > 0.0 ? sunlight(view, from_eye, normal, 0.0) : 0.0;
    vec3 bumpy = mix(normal, bumped(at, normal, footprint), snow);
    vec3 shown = sunlit(albedo, bumpy, vec3(0.0, 0.0, 1.0), WRAP, arriving);
    float glint = snow * arriving * glitter(at, normal, toward_viewer(view, from_eye), footprint);
    if (glint > 0.0) shown = to_display(to_linear(shown) + glint);
    pixel = vec4(fogged(shown, fog, length(from_eye)), 1.0);
}
