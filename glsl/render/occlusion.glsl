// Parameters that the two stages of `occlusion` share.
layout(scalar, push_constant) uniform Params {
    vec2 tan_half_fov;
    float near;
    // Of the image, in pixels.
    uint width;
    uint height;
    // How far away neighbours darken a point, in m.
    float reach;
    // 0 leaves the image as it is.
    float strength;
};
