// Parameters that the two stages of `mesh` share.
layout(scalar, push_constant) uniform Params {
    View view;
    Fog fog;
    // Display-encoded colour.
    vec3 color;
    // Number of the `Material` on the host.
    uint material;
    // Vertical axis: 0, 1 or 2.
    uint up_axis;
};
