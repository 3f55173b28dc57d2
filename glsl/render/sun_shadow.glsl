// Shadows: how much of the sun's light arrives at a point, by the depths of particles and solids as the sun
// sees them.
//
// Needs render/view.glsl, and buffers `terms` (render/fluid_terms.glsl), `opaque_shadow` and `fluid_shadow`:
// depth images of what is opaque and of the fluid, in the projection `terms[0].sun`.

// Share of the light that passes the surfaces of a fluid towards what lies behind it.
const float FLUID_TRANSMISSION = 0.62;

// Returns the light that passes towards a place in the shadow images.
float sunlight_at(ivec2 at, float depth) {
    int size = int(terms[0].shadow_size);
    if (any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, ivec2(size)))) return 1.0;
    int i = at.y * size + at.x;
    // Depth is reversed: nearer to the sun is greater. Points beyond the projection are behind whatever is
    // drawn, and nothing drawn is 0.
    if (opaque_shadow[i] > max(depth, 0.0)) return 0.0;
    return fluid_shadow[i] > max(depth, 0.0) ? FLUID_TRANSMISSION : 1.0;
}

// Distance in pixels between the places that are averaged, wide enough to hide that bodies consist of
// particles.
const int SPREAD = 3;

// Returns the share of the sun's light that arrives at a point relative to the eye: the mean over 4 × 4
// pixels of the shadow images, weighted so that it changes steadily.
float sunlight(View view, vec3 from_eye) {
    View sun = terms[0].sun;
    vec3 from_sun = from_eye + (view.eye - sun.eye) + terms[0].bias * terms[0].to_sun;
    float depth = depth_at(sun, from_sun);
    vec4 clip = clip_position(sun, from_sun);
    vec2 at = (0.5 * clip.xy + 0.5) * float(terms[0].shadow_size) / float(SPREAD) - 0.5;
    ivec2 low = ivec2(floor(at));
    vec2 share = at - vec2(low);
    float sum = 0.0;
    for (int y = -1; y <= 2; ++y) {
        float in_y = y == -1 ? 1.0 - share.y : y == 2 ? share.y : 1.0;
        for (int x = -1; x <= 2; ++x) {
            float in_x = x == -1 ? 1.0 - share.x : x == 2 ? share.x : 1.0;
            sum += in_x * in_y * sunlight_at(SPREAD * (low + ivec2(x, y)), depth);
        }
    }
    return sum / 9.0;
}
