// Light that does not move with the camera: the sun, the images in which its shadows are found, and other
// lights; and how snow looks in it. Needs render/view.glsl.

// Maximum number of lights beside the sun.
const uint MAX_LIGHTS = 4u;

struct LightTerms {
    // Unit vector towards the sun.
    vec3 to_sun;
    // Parallel projection along the sun's light. Its eye is the middle of what casts shadows.
    View sun;
    // Pixels along each side of the shadow images; 0 for no shadows.
    uint shadow_size;
    // Distance in pixels between the places that are averaged: wide enough to hide that bodies consist of
    // particles, if they do.
    uint shadow_spread;
    // Longer side of a pixel of the shadow images, in m.
    float shadow_pixel;
    // Distance in m by which a point of a body of particles must be behind another to be in its shadow.
    float shadow_bias;
    uint n_lights;
    // Unit vectors towards the other lights, and their linear colours.
    vec3 to_light[MAX_LIGHTS];
    vec3 light_color[MAX_LIGHTS];
    // Slope of bumps of snow, and the wavelength of the longest in m.
    float bump_slope;
    float bump_wavelength;
    // Share of cells of snow that hold a crystal, and the side of a cell in m.
    float glitter;
    float glitter_cell;
};
