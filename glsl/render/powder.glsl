// Parameters that the two stages of `powder` share. Needs render/view.glsl and render/shade.glsl.
layout(scalar, push_constant) uniform Params {
    View view;
    Fog fog;
    // Radius of a puff in m.
    float radius;
    // Height of the puff's centre above its particle in m.
    float lift;
    // Extinction cross-section in m² of a puff of full load.
    float extinction;
    // Speed in m/s above which particles carry powder; below 0: all carry the full load.
    float onset_speed;
    uint up_axis;
    // Pixels of the depth image per pixel along each axis, and their number in a row.
    uint per_axis;
    uint depth_width;
};
