// Light that does not move with the camera: the sun, and the images in which its shadows are found. Needs
// render/view.glsl.
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
};
