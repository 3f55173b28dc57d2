// Shadows: how much of the sun's light arrives at a point, by the depths of what is opaque and of fluids as
// the sun sees them.
//
// Needs render/view.glsl, and buffers `light_terms` (render/light_terms.glsl), `opaque_shadow` and
// `fluid_shadow`: depth images in the projection `light_terms[0].sun`.

// Share of the light that passes the surfaces of a fluid towards what lies behind it.
const float FLUID_TRANSMISSION = 0.62;
// Share of a point's light that comes from the sun where shading does not compute it, in display-encoded
// values.
const float SUN_SHARE = 0.42;

// Returns the light that passes towards a place in the shadow images.
float sunlight_at(ivec2 at, float depth) {
    int size = int(light_terms[0].shadow_size);
    if (any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, ivec2(size)))) return 1.0;
    int i = at.y * size + at.x;
    // Depth is reversed: nearer to the sun is greater. Points beyond the projection are behind whatever is
    // drawn, and nothing drawn is 0.
    if (opaque_shadow[i] > max(depth, 0.0)) return 0.0;
    return fluid_shadow[i] > max(depth, 0.0) ? FLUID_TRANSMISSION : 1.0;
}

// Returns the share of the sun's light that arrives at a point relative to the eye, on a surface with a unit
// normal: the mean over 4 × 4 places of the shadow images, weighted so that it changes steadily. `bias` is
// the distance in m by which the point must be behind another.
//
// The places are up to 2.5 spreads from the point along each axis, where a plane at an angle θ to the sun's
// rays is up to √2 · 2.5 tan θ spreads nearer to the sun; a step of √2 · 2.5 sin θ spreads along the normal
// compensates that, and a pixel more the difference between levels of detail.
float sunlight(View view, vec3 from_eye, vec3 normal, float bias) {
    if (light_terms[0].shadow_size == 0u) return 1.0;
    View sun = light_terms[0].sun;
    vec3 to_sun = light_terms[0].to_sun;
    float spread = float(light_terms[0].shadow_spread);
    float across = length(cross(normal, to_sun));
    vec3 moved = light_terms[0].shadow_pixel * (1.0 + 3.54 * spread * across) * normal + bias * to_sun;
    vec3 from_sun = from_eye + (view.eye - sun.eye) + moved;
    float depth = depth_at(sun, from_sun);
    vec4 clip = clip_position(sun, from_sun);
    vec2 at = (0.5 * clip.xy + 0.5) * float(light_terms[0].shadow_size) / spread - 0.5;
    ivec2 low = ivec2(floor(at));
    vec2 share = at - vec2(low);
    float sum = 0.0;
    for (int y = -1; y <= 2; ++y) {
        float in_y = y == -1 ? 1.0 - share.y : y == 2 ? share.y : 1.0;
        for (int x = -1; x <= 2; ++x) {
            float in_x = x == -1 ? 1.0 - share.x : x == 2 ? share.x : 1.0;
            sum += in_x * in_y * sunlight_at(int(spread) * (low + ivec2(x, y)), depth);
        }
    }
    return sum / 9.0;
}

// Returns a display-encoded colour, computed by other lights than the sun, with `arriving` of the sun's
// light.
vec3 shadowed(vec3 encoded, float arriving) { return encoded * (1.0 - SUN_SHARE * (1.0 - arriving)); }
