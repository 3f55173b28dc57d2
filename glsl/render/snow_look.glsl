// Relief and glitter of snow, which depend on the place in the world: they are the same from everywhere and
// in every picture. Needs render/shade.glsl and the buffer `light_terms` (render/light_terms.glsl).
//
// Both fade out where a pixel is too large for them, by its footprint: the length in m that it covers on the
// surface.

// Returns three random numbers of a cell (pcg3d, Jarzynski2020).
uvec3 hashed(uvec3 v) {
    v = v * 1664525u + 1013904223u;
    v += v.yzx * v.zxy;
    v ^= v >> 16u;
    v += v.yzx * v.zxy;
    return v;
}

// Returns numbers from 0 to 1.
vec3 unit_interval(uvec3 random) { return vec3(random >> 8u) / 16777216.0; }

// Returns the gradient of noise with values from −1 to 1 at the corners of unit cells.
vec3 noise_gradient(vec3 at) {
    vec3 low = floor(at);
    vec3 t = at - low;
    vec3 weight = t * t * t * (t * (6.0 * t - 15.0) + 10.0);
    vec3 change = 30.0 * t * t * (t * (t - 2.0) + 1.0);
    vec3 gradient = vec3(0.0);
    for (uint corner = 0u; corner < 8u; ++corner) {
        vec3 far = vec3(corner & 1u, (corner >> 1u) & 1u, corner >> 2u);
        vec3 w = mix(1.0 - weight, weight, far);
        vec3 d = mix(-change, change, far);
        float value = 2.0 * unit_interval(hashed(uvec3(ivec3(low + far)))).x - 1.0;
        gradient += value * vec3(d.x * w.y * w.z, w.x * d.y * w.z, w.x * w.y * d.z);
    }
    return gradient;
}

// Octaves of the relief, each of half the wavelength and 0.7 of the slope of the one before.
const uint BUMP_OCTAVES = 3u;
// Wavelengths in pixels below which an octave is gone, and above which it is whole.
const float FEWEST_PIXELS = 3.0;
const float ENOUGH_PIXELS = 8.0;

// Returns the normal of snow at a place in m: that of the surface n, inclined by bumps of gradient g across
// it. It is no unit vector: the bumps within an area of the surface take l·(n − g) of light from a direction
// l per area. So they do not darken the snow on the whole, and none is lost as they fade out.
vec3 bumped(vec3 at, vec3 normal, float footprint) {
    float slope = light_terms[0].bump_slope, wavelength = light_terms[0].bump_wavelength;
    vec3 gradient = vec3(0.0);
    for (uint octave = 0u; octave < BUMP_OCTAVES; ++octave) {
        float share = smoothstep(FEWEST_PIXELS, ENOUGH_PIXELS, wavelength / footprint);
        // All finer octaves are gone, too.
        if (slope * share <= 0.0) break;
        gradient += slope * share * noise_gradient(at / wavelength);
        slope *= 0.7;
        wavelength *= 0.5;
    }
    return normal - (gradient - dot(gradient, normal) * normal);
}

// Side of a cell in pixels below which crystals do not glitter, and above which they do fully.
const float FEWEST_GLITTER_PIXELS = 2.0;
const float ENOUGH_GLITTER_PIXELS = 4.0;
// Radius of a glint in cells. Its centre is so far inside the cell that all of it is in there, seen along an
// axis.
const float GLINT_RADIUS = 0.3;
// Deviation of crystals' faces from the surface, and sharpness of their reflections.
const float FACE_SPREAD = 0.9;
const float GLINT_SHARPNESS = 300.0;
// Linear light of a glint that reflects the sun to the eye.
const float GLINT = 4.0;

// Returns the linear light of crystals at a place in m that reflect the sun: some cells hold a crystal with a
// random face.
float glitter(vec3 at, vec3 normal, vec3 to_viewer, float footprint) {
    float cell = light_terms[0].glitter_cell;
    float share = smoothstep(FEWEST_GLITTER_PIXELS, ENOUGH_GLITTER_PIXELS, cell / footprint);
    if (light_terms[0].glitter * share <= 0.0) return 0.0;
    vec3 low = floor(at / cell);
    uvec3 random = hashed(uvec3(ivec3(low)));
    vec3 center = low + GLINT_RADIUS + (1.0 - 2.0 * GLINT_RADIUS) * unit_interval(random);
    // The crystal lies on the surface, wherever that passes through the cell.
    float off = length(cross(at / cell - center, normal));
    float spot = 1.0 - smoothstep(0.5 * GLINT_RADIUS, GLINT_RADIUS, off);
    uvec3 other = hashed(random);
    if (spot <= 0.0 || unit_interval(other.zxy).x >= light_terms[0].glitter) return 0.0;
    vec3 face = normalize(normal + FACE_SPREAD * (2.0 * unit_interval(hashed(other)) - 1.0));
    float aligned = max(dot(face, normalize(light_terms[0].to_sun + to_viewer)), 0.0);
    return GLINT * share * spot * pow(aligned, GLINT_SHARPNESS);
}
