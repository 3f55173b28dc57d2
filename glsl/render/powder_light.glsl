// Parameters that the two stages of `powder_light` share. Needs render/shade.glsl.
layout(scalar, push_constant) uniform Params {
    Fog fog;
    // Display-encoded albedo of powder.
    vec3 color;
    // Pixels of the picture in a row, the number of them per pixel of the sums along each axis, and the
    // number of those in a row.
    uint width;
    uint per_axis;
    uint sums_width;
};
