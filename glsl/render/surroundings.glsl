// Light that arrives from the surroundings of a scene: an analytic sky with a sun, or an image.
//
// Needs render/shade.glsl, and buffers `terms` (render/fluid_terms.glsl) and `surroundings`: packed RGBA8
// pixels of an equirectangular image, rows from straight up to straight down, the middle column in front.

const float PI = 3.14159265;

vec3 surroundings_texel(ivec2 at) {
    int width = int(terms[0].map_width), height = int(terms[0].map_height);
    uint pixel = surroundings[clamp(at.y, 0, height - 1) * width + (at.x % width + width) % width];
    return to_linear(unpackUnorm4x8(pixel).rgb);
}

// Returns the image's light from a direction, interpolated between its pixels.
vec3 mapped_surroundings(vec3 direction) {
    float right = dot(direction, terms[0].map_right), front = dot(direction, terms[0].map_front);
    float turn = abs(right) + abs(front) > 0.0 ? atan(right, front) : 0.0;
    float down = acos(clamp(dot(direction, terms[0].up), -1.0, 1.0));
    vec2 share_of_map = vec2(0.5 + turn / (2.0 * PI), down / PI);
    vec2 at = share_of_map * vec2(terms[0].map_width, terms[0].map_height) - 0.5;
    ivec2 low = ivec2(floor(at));
    vec2 share = at - vec2(low);
    vec3 above = mix(surroundings_texel(low), surroundings_texel(low + ivec2(1, 0)), share.x);
    vec3 below = mix(surroundings_texel(low + ivec2(0, 1)), surroundings_texel(low + ivec2(1, 1)), share.x);
    return mix(above, below, share.y);
}

// Returns the light of a clear sky without its sun: pale at the horizon, blue above, bright around the sun,
// and a grey ground below.
vec3 analytic_sky(vec3 direction) {
    const vec3 ZENITH = vec3(0.10, 0.24, 0.55);
    const vec3 HORIZON = vec3(0.62, 0.74, 0.86);
    const vec3 GROUND = vec3(0.20, 0.20, 0.20);
    const vec3 GLOW = vec3(0.55, 0.45, 0.30);
    float height = dot(direction, terms[0].up);
    float around_sun = max(dot(direction, terms[0].to_sun), 0.0);
    vec3 sky = mix(HORIZON, ZENITH, pow(max(height, 0.0), 0.55)) + GLOW * pow(around_sun, 12.0);
    vec3 ground = mix(HORIZON, GROUND, pow(clamp(-3.0 * height, 0.0, 1.0), 0.5));
    return mix(ground, sky, smoothstep(-0.02, 0.02, height));
}

// Returns the linear light that arrives from a direction, without the sun.
vec3 surrounding_light(vec3 direction) {
    return terms[0].map_width > 0u ? mapped_surroundings(direction) : analytic_sky(direction);
}
