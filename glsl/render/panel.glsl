// Parameters that the two stages of `panel` share, in pixels.
layout(scalar, push_constant) uniform Params {
    vec2 image_size;
    // Position of the panel's top left corner.
    vec2 place;
    uint width;
    uint height;
};
