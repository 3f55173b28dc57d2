// Parameters that the two stages of `ground` share.
layout(scalar, push_constant) uniform Params {
    View view;
    vec3 origin;
    // Unit vectors in the plane.
    vec3 across;
    vec3 along;
    // The plane fades out at this distance from the origin, in m.
    float extent;
    // Side of a grid cell, in m.
    float cell;
    vec3 color;
};
