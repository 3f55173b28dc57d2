#version 460
// The fragment stage intersects the view ray with the sphere: exact silhouette, normal and depth.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/imposter.glsl"
#include "render/shade.glsl"
#include "render/light_terms.glsl"
#include "render/particles.glsl"

layout(scalar, binding = 5) readonly buffer Light { LightTerms light_terms[]; };
layout(scalar, binding = 6) readonly buffer OpaqueShadow { float opaque_shadow[]; };
layout(scalar, binding = 7) readonly buffer FluidShadow { float fluid_shadow[]; };
#include "render/sun_shadow.glsl"
#include "render/sunlit.glsl"

const uint SHADING_FLAT = 0u;
const uint SHADING_LIT = 1u;
const uint SHADING_MATTE = 2u;
const uint SHADING_TRANSLUCENT = 3u;
const uint SHADING_SUNLIT = 4u;
const uint SHADING_SOFT = 5u;
const float SNOW_WRAP = 0.3;

layout(location = 0) in vec3 ray;
layout(location = 1) flat in vec3 center;
layout(location = 2) flat in vec3 color;
layout(location = 3) flat in float sphere_radius;
layout(location = 0) out vec4 pixel;
layout(depth_less) out float gl_FragDepth;

void main() {
    vec3 hit;
    if (!imposter_hit(view, ray, center, sphere_radius, hit)) discard;
    if (is_too_near(view, hit)) discard;
    gl_FragDepth = depth_at(view, hit);
    vec3 to_viewer = toward_viewer(view, hit);
    vec3 normal = (hit - center) / sphere_radius;
    vec3 shown = color;
    uint kind = shading & 0xffu;
    if (kind == SHADING_LIT || kind == SHADING_MATTE || kind == SHADING_SUNLIT) {
        float arriving = sunlight(view, hit, normal, light_terms[0].shadow_bias);
        vec3 up = axis_vector((shading >> 8u) & 0xffu);
        if (kind == SHADING_LIT) shown = shadowed(lit(color, normal, to_viewer, view), arriving);
        if (kind == SHADING_MATTE) shown = shadowed(matte(color, normal, view), arriving);
        if (kind == SHADING_SUNLIT) shown = sunlit(color, normal, up, SNOW_WRAP, arriving);
    }
    float taken = 1.0;
    if (kind == SHADING_TRANSLUCENT) {
        // Layers of one colour blend to the same result in any order, like light absorbed along the ray (Beer
        // and Lambert); a little light on each shows the surface.
        float chord = max(dot(normal, to_viewer), 0.0);
        taken = 1.0 - pow(1.0 - opacity, chord);
        shown = mix(color, lit(color, normal, to_viewer, view), 0.5);
    }
    if (kind == SHADING_SOFT) {
        // Distance of the ray from the centre, in radii.
        float facing = dot(normal, to_viewer);
        float away = sqrt(max(1.0 - facing * facing, 0.0));
        shown = color * (1.0 - smoothstep(0.5, 1.0, away));
    }
    // Flat shading has no fog, so that its colours match the legend at any distance.
    if (kind != SHADING_FLAT && kind != SHADING_SOFT) shown = fogged(shown, fog, length(hit));
    pixel = vec4(shown, taken);
}
