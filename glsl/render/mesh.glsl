// Parameters that the two stages of `mesh` share.
layout(scalar, push_constant) uniform Params {
    View view;
    Fog fog;
    // Unit vector towards the sun.
    vec3 to_sun;
    // Display-encoded.
    vec3 color;
    // The same numbers as `Material` on the host.
    uint material;
    // The axis that points up: 0, 1 or 2.
    uint up_axis;
};
