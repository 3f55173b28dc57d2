// Parameters that the two stages of `resolve` share.
layout(scalar, push_constant) uniform Params {
    // Size of the supersampled image in pixels.
    uint fine_width;
    // Pixels of the supersampled image per pixel of the image, along each axis.
    uint per_axis;
};
