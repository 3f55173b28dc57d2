// Lighting and colour. Images hold display-encoded (sRGB) values; light is added in linear ones.

vec3 to_linear(vec3 encoded) {
    return mix(encoded / 12.92, pow((encoded + 0.055) / 1.055, vec3(2.4)),
               greaterThan(encoded, vec3(0.04045)));
}

vec3 to_display(vec3 linear) {
    vec3 l = clamp(linear, 0.0, 1.0);
    return mix(12.92 * l, 1.055 * pow(l, vec3(1.0 / 2.4)) - 0.055, greaterThan(l, vec3(0.0031308)));
}

// Shades a wet-looking surface: a sky (hemispheric ambient), one key light over the viewer's shoulder with a
// broad highlight, and a rim light at grazing angles. All of it depends on the camera, so orbiting never
// shows a dark side.
vec3 lit(vec3 encoded_albedo, vec3 normal, vec3 to_eye, View view) {
    const vec3 SKY = vec3(0.50, 0.54, 0.60);
    const vec3 GROUND = vec3(0.16, 0.15, 0.15);
    const float KEY = 0.72;
    vec3 to_light = normalize(-0.45 * view.right + 0.75 * view.up - 0.65 * view.forward);
    vec3 ambient = mix(GROUND, SKY, 0.5 + 0.5 * dot(normal, view.up));
    float key = KEY * max(dot(normal, to_light), 0.0);
    float highlight = 0.22 * pow(max(dot(normal, normalize(to_light + to_eye)), 0.0), 40.0);
    float rim = 0.10 * pow(1.0 - max(dot(normal, to_eye), 0.0), 3.0);
    return to_display(to_linear(encoded_albedo) * (ambient + key) + highlight + rim * SKY);
}

// Shades a surface like snow under the same lights: subsurface scattering carries light past the terminator,
// hollows stay bright and bluish, and there is no highlight.
vec3 matte(vec3 encoded_albedo, vec3 normal, View view) {
    const vec3 SKY = vec3(0.50, 0.53, 0.58);
    const vec3 GROUND = vec3(0.29, 0.33, 0.41);
    const float KEY = 0.58;
    const float WRAP = 0.4;
    vec3 to_light = normalize(-0.45 * view.right + 0.75 * view.up - 0.65 * view.forward);
    vec3 ambient = mix(GROUND, SKY, 0.5 + 0.5 * dot(normal, view.up));
    float key = KEY * max((dot(normal, to_light) + WRAP) / (1.0 + WRAP), 0.0);
    return to_display(to_linear(encoded_albedo) * (ambient + key));
}

// Fog between a surface and the eye that absorbs and scatters light.
struct Fog {
    // Display-encoded colour at infinite distance.
    vec3 color;
    // Extinction coefficient β, in 1/m; 0 in clear air.
    float per_m;
};

// Returns a colour seen through `distance_m` of fog: exp(−β d) of its light arrives (Bouguer and Lambert),
// and the fog's own light replaces the rest (Gucer2010 algorithms 3.4 and 3.5, of which the first squares the
// distance).
vec3 fogged(vec3 encoded, Fog fog, float distance_m) {
    if (fog.per_m <= 0.0) return encoded;
    return to_display(mix(to_linear(fog.color), to_linear(encoded), exp(-fog.per_m * distance_m)));
}

// Returns the unit vector along an axis of the world.
vec3 axis_vector(uint axis) {
    return vec3(axis == 0u ? 1.0 : 0.0, axis == 1u ? 1.0 : 0.0, axis == 2u ? 1.0 : 0.0);
}
