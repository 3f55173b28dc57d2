#version 460
// The fragment stage integrates the density along the ray, up to what is opaque.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/screen.glsl"
#include "render/imposter.glsl"
#include "render/shade.glsl"
#include "render/light_terms.glsl"
#include "render/powder.glsl"
#include "render/powder_sums.glsl"

layout(scalar, binding = 3) readonly buffer SceneDepth { float scene_depth[]; };
layout(scalar, binding = 4) readonly buffer Light { LightTerms light_terms[]; };

layout(location = 0) in vec3 ray;
layout(location = 1) flat in vec3 center;
layout(location = 2) flat in float load;
layout(location = 3) flat in float arriving;
// Quanta of optical depth, and their products with the sun's light, with the share of the sky in the light
// from all around, and with the transmittance of the fog.
layout(location = 0) out vec4 sums;

// Light is scattered many times, and passes far beyond the terminator.
const float POWDER_WRAP = 0.5;

// Returns ∫ (h² − t²)² dt from 0 to `t`.
float primitive(float h_squared, float t) {
    float t_squared = t * t;
    return t * (h_squared * h_squared + t_squared * (t_squared / 5.0 - 2.0 / 3.0 * h_squared));
}

void main() {
    vec3 hit;
    if (!imposter_hit(view, ray, center, radius, hit)) discard;
    vec3 direction = has_perspective(view) ? normalize(ray) : view.forward;
    // Along the ray, from the point nearest to the centre and in radii: where the puff begins and ends.
    float half_chord = dot(direction, center - hit) / radius;
    float h_squared = half_chord * half_chord;
    // Distances are along `forward`, lengths along the ray.
    float along_forward = dot(direction, view.forward) * radius;
    float z_middle = dot(hit, view.forward) + half_chord * along_forward;
    uvec2 first = uvec2(gl_FragCoord.xy) * per_axis;
    float visible = 0.0;
    for (uint y = 0u; y < per_axis; ++y) {
        for (uint x = 0u; x < per_axis; ++x) {
            float z = distance_of_depth(view, scene_depth[(first.y + y) * depth_width + first.x + x]);
            float end = clamp((z - z_middle) / along_forward, -half_chord, half_chord);
            visible += primitive(h_squared, end) - primitive(h_squared, -half_chord);
        }
    }
    // A density (1 − s²/R²)² at the distance s from the centre integrates over the puff to 32πR³/105.
    const float NORMALIZATION = 105.0 / (32.0 * 3.14159265);
    float optical_depth = NORMALIZATION * load / (radius * radius) * visible / float(per_axis * per_axis);
    float quanta = round(float(QUANTA) * optical_depth);
    if (!(quanta > 0.0)) discard;
    vec3 normal = (hit - center) / radius;
    float towards_sun = (dot(normal, light_terms[0].to_sun) + POWDER_WRAP) / (1.0 + POWDER_WRAP);
    float sun = arriving * max(towards_sun, 0.0);
    float sky = 0.5 + 0.5 * dot(normal, axis_vector(up_axis));
    float clear = fog.per_m > 0.0 ? exp(-fog.per_m * length(hit)) : 1.0;
    sums = vec4(quanta, round(quanta * clamp(vec3(sun, sky, clear), 0.0, 1.0)));
}
