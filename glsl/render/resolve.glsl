// Parameters that the two stages of `resolve` share.
layout(scalar, push_constant) uniform Params {
    // Of the finer picture, in pixels.
    uint fine_width;
    // Pixels of the finer picture to one of the image, along each axis.
    uint per_axis;
};
