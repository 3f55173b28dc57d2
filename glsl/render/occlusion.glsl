// Parameters that the two stages of `occlusion` share.
layout(scalar, push_constant) uniform Params {
    // As in `View`.
    vec2 half_extent;
    float near;
    float depth_reach;
    // Of the image, in pixels.
    uint width;
    uint height;
    // How far away neighbours darken a point, in m.
    float reach;
    // 0 leaves the image as it is.
    float strength;
};
