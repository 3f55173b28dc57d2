// Light around a fluid, and its material. Needs render/view.glsl.
struct FluidTerms {
    // Parallel projection along the sun's light, in which shadows are found. Its eye is the middle of what
    // casts shadows; half_extent is their reach in m.
    View sun;
    // Unit vectors.
    vec3 to_sun;
    vec3 up;
    // Absorption coefficient of each colour, in 1/m.
    vec3 absorption;
    // Light that the fluid scatters where it is deep and sunlit; linear.
    vec3 color;
    // Ratio of refractive indices, fluid to air.
    float refractive_index;
    // Thickness in m over which the silhouette of the fluid fades in.
    float edge;
    // Distance in m by which a point must be behind another to be in its shadow.
    float bias;
    // Pixels along each side of the shadow images.
    uint shadow_size;
    // Size in pixels of the image of the surroundings; 0 for the analytic sky.
    uint map_width;
    uint map_height;
    // Azimuth 0 and 90° of that image, unit vectors.
    vec3 map_front;
    vec3 map_right;
};
