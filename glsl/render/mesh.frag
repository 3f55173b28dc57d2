#version 460
// The fragment stage shades by the interpolated normal.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/light_terms.glsl"
#include "render/mesh.glsl"

layout(scalar, binding = 4) readonly buffer Light { LightTerms light_terms[]; };
layout(scalar, binding = 5) readonly buffer OpaqueShadow { float opaque_shadow[]; };
layout(scalar, binding = 6) readonly buffer FluidShadow { float fluid_shadow[]; };
#include "render/sun_shadow.glsl"
#include "render/sunlit.glsl"
#include "render/snow_look.glsl"

layout(location = 0) in vec3 from_eye;
layout(location = 1) in vec3 outwards;
layout(location = 2) in vec3 at;
layout(location = 0) out vec4 pixel;

const uint MATERIAL_SNOW = 0u;
const uint MATERIAL_STONE = 1u;
const uint MATERIAL_WATER = 2u;
const float SNOW_WRAP = 0.3;

void main() {
    float squared = dot(outwards, outwards);
    vec3 to_viewer = toward_viewer(view, from_eye);
    // Opposite normals of one triangle may interpolate to zero.
    vec3 unit = squared > 0.0 ? outwards * inversesqrt(squared) : to_viewer;
    vec3 shown;
    float arriving =
        sunlight(view, from_eye, unit, material == MATERIAL_STONE ? 0.0 : light_terms[0].shadow_bias);
    float footprint = max(length(dFdx(at)), length(dFdy(at)));
    vec3 bumpy = material == MATERIAL_SNOW ? bumped(at, unit, footprint) : unit;
    float wrap = material == MATERIAL_SNOW ? SNOW_WRAP : 0.0;
    if (material == MATERIAL_WATER) shown = shadowed(lit(color, unit, to_viewer, view), arriving);
    else shown = sunlit(color, bumpy, axis_vector(up_axis), wrap, arriving);
    if (material == MATERIAL_SNOW) {
        float glint = arriving * glitter(at, unit, to_viewer, footprint);
        if (glint > 0.0) shown = to_display(to_linear(shown) + glint);
    }
    pixel = vec4(fogged(shown, fog, length(from_eye)), 1.0);
}
