// Parameters that the two stages of `particles` share.
layout(scalar, push_constant) uniform Params {
    View view;
    // Of all spheres, or what radii of their own are multiplied by.
    float radius;
    uint column_kind;
    // 32-bit words an element of the column takes, and the first that is read.
    uint column_stride;
    uint column_index;
    // COLUMN_NONE: the colour of all. Else the values at the two ends of the colour map, and what is subtracted from
    // each value.
    vec3 coloring;
    // The same numbers as `Shading` on the host; in the second byte the axis that points up, in the third 1 if spheres
    // have radii of their own.
    uint shading;
    // Of the middle of a translucent sphere.
    float opacity;
    Fog fog;
    vec3 to_sun;
};
