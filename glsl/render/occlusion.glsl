// Parameters that the two stages of `occlusion` share.
layout(scalar, push_constant) uniform Params {
    // Half extent, like that of `View`.
    vec2 half_extent;
    float near;
    float depth_reach;
    // Size of the image in pixels.
    uint width;
    uint height;
    // Maximum distance in m at which neighbours darken a point.
    float reach;
    // 0 leaves the image unchanged.
    float strength;
};
