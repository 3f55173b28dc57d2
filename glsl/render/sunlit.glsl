// Light outdoors, which does not move with the camera. Needs render/view.glsl, render/shade.glsl and the
// buffer `light_terms` (render/light_terms.glsl).

// Linear light of the sun across its rays, of the sky above and of the ground below.
const vec3 SUNLIGHT = vec3(0.98, 0.92, 0.82);
const vec3 SKYLIGHT = vec3(0.24, 0.31, 0.43);
const vec3 GROUNDLIGHT = vec3(0.14, 0.16, 0.19);

// Shades a surface under the sun, the sky above, light reflected by snow from below, and other lights, which
// cast no shadows. `wrap` is how far scattered light reaches past the terminator: 0 for stone, more for snow.
// `arriving` is the share of the sun's light that shadows leave.
vec3 sunlit(vec3 encoded_albedo, vec3 normal, vec3 up, float wrap, float arriving) {
    vec3 light = mix(GROUNDLIGHT, SKYLIGHT, 0.5 + 0.5 * dot(normal, up));
    light += arriving * max((dot(normal, light_terms[0].to_sun) + wrap) / (1.0 + wrap), 0.0) * SUNLIGHT;
    for (uint i = 0u; i < light_terms[0].n_lights; ++i) {
        float key = max((dot(normal, light_terms[0].to_light[i]) + wrap) / (1.0 + wrap), 0.0);
        light += key * light_terms[0].light_color[i];
    }
    return to_display(to_linear(encoded_albedo) * light);
}
