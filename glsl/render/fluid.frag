#version 460
// The fragment stage shades a pixel of the fluid's surface, writes its depth, and leaves other pixels as they
// are.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/screen.glsl"
#include "render/fluid_terms.glsl"
#include "render/light_terms.glsl"
#include "render/image_pass.glsl"

layout(scalar, binding = 0) readonly buffer Distance { float distance_m[]; };
layout(scalar, binding = 1) readonly buffer Thickness { float thickness_m[]; };
layout(scalar, binding = 2) readonly buffer SceneDepth { float scene_depth[]; };
layout(scalar, binding = 3) readonly buffer SceneColor { uint scene_color[]; };
layout(scalar, binding = 4) readonly buffer OpaqueShadow { float opaque_shadow[]; };
layout(scalar, binding = 5) readonly buffer FluidShadow { float fluid_shadow[]; };
layout(scalar, binding = 6) readonly buffer Surroundings { uint surroundings[]; };
layout(scalar, binding = 7) readonly buffer Terms { FluidTerms terms[]; };
layout(scalar, binding = 8) readonly buffer Light { LightTerms light_terms[]; };
#include "render/surroundings.glsl"
#include "render/sun_shadow.glsl"

layout(location = 0) out vec4 pixel;

// Light of the sun's disc, blurred over the width of its reflection (Huang2016 eq 3.7), and of sun and sky on
// a surface across them; linear.
const vec3 SUN_GLINT = vec3(14.0, 12.5, 10.0);
const float SHININESS = 500.0;
const vec3 SUN_ON_SURFACE = vec3(0.95, 0.90, 0.80);
const vec3 SKY_ON_SURFACE = vec3(0.45, 0.52, 0.60);

float distance_at(ivec2 there) {
    if (any(lessThan(there, ivec2(0))) || any(greaterThanEqual(there, ivec2(width, height))))
        return NO_SURFACE;
    return distance_m[there.y * int(width) + there.x];
}

vec3 point_at(ivec2 there, float z) {
    return point_of_pixel(view, vec2(there) + 0.5, vec2(width, height), z);
}

// Returns the change of the point from one pixel to the next along an axis: the difference to the neighbour
// that is nearer in distance, since the other may show another surface.
vec3 change_along(ivec2 at, ivec2 along, float z) {
    float before = distance_at(at - along), after = distance_at(at + along);
    vec3 here = point_at(at, z);
    bool is_after = shows_surface(after) && (!shows_surface(before) || abs(after - z) < abs(before - z));
    if (is_after) return point_at(at + along, after) - here;
    if (shows_surface(before)) return here - point_at(at - along, before);
    // A single pixel faces the viewer.
    return point_at(at + along, z) - here;
}

// Returns the scene behind the fluid at a position in pixels, linear; at the pixel itself if what is there is
// in front of the fluid.
vec3 scene_behind(vec2 bent, ivec2 at, float z) {
    ivec2 size = ivec2(width, height);
    ivec2 there = clamp(ivec2(floor(bent)), ivec2(0), size - 1);
    int i = there.y * size.x + there.x;
    if (distance_of_depth(view, scene_depth[i]) < z) i = at.y * size.x + at.x;
    return to_linear(unpackUnorm4x8(scene_color[i]).rgb);
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int i = at.y * int(width) + at.x;
    float z = distance_m[i], thickness = thickness_m[i];
    if (!shows_surface(z) || thickness <= 0.0) discard;
    vec2 image_size = vec2(width, height);
    vec3 here = point_at(at, z);
    if (is_too_near(view, here)) discard;
    gl_FragDepth = depth_at(view, here);
    vec3 to_viewer = toward_viewer(view, here);
    // Rows run downwards.
    vec3 across = cross(change_along(at, ivec2(0, 1), z), change_along(at, ivec2(1, 0), z));
    vec3 normal = dot(across, across) > 0.0 ? normalize(across) : to_viewer;
    float facing = max(dot(normal, to_viewer), 0.0);

    // Schlick's approximation of Fresnel's equations (Huang2016 eq 3.4, 3.5).
    float n = terms[0].refractive_index;
    float at_normal = (1.0 - n) * (1.0 - n) / ((1.0 + n) * (1.0 + n));
    float reflectance = at_normal + (1.0 - at_normal) * pow(1.0 - facing, 5.0);

    // The refracted ray shows the scene at the pixel of the point where it leaves the fluid: exact for a
    // layer with parallel faces on what is behind it.
    vec3 inside = refract(-to_viewer, normal, 1.0 / n);
    float path = thickness * facing / max(-dot(inside, normal), 1e-3);
    vec2 bent = pixel_of_point(view, here + path * inside, image_size);
    vec3 behind = scene_behind(bent, at, z);
    float sun = sunlight(view, here, normal, light_terms[0].shadow_bias);
    float towards_sun = max(dot(normal, terms[0].to_sun), 0.0);
    vec3 scattered = terms[0].color * (SKY_ON_SURFACE + sun * towards_sun * SUN_ON_SURFACE);
    vec3 transmittance = exp(-terms[0].absorption * thickness);
    vec3 refracted = mix(scattered, behind, transmittance);

    // Huang2016 eq 3.6 without local reflections, as there.
    vec3 mirrored = reflect(-to_viewer, normal);
    float glint = pow(max(dot(mirrored, terms[0].to_sun), 0.0), SHININESS);
    vec3 reflected = surrounding_light(mirrored) + sun * glint * SUN_GLINT;

    vec3 light = mix(refracted, reflected, reflectance);
    vec3 shown = fogged(to_display(light), fog, length(here));
    float covered = clamp(thickness / terms[0].edge, 0.0, 1.0);
    vec3 scene = to_linear(unpackUnorm4x8(scene_color[i]).rgb);
    pixel = vec4(to_display(mix(scene, to_linear(shown), covered)), 1.0);
}
