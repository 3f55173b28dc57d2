// Surroundings of a fluid, and its material.
struct FluidTerms {
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
    // Size in pixels of the image of the surroundings; 0 for the analytic sky.
    uint map_width;
    uint map_height;
    // Azimuth 0 and 90° of that image, unit vectors.
    vec3 map_front;
    vec3 map_right;
};
