// Parameters that the two stages of `particles` share.
layout(scalar, push_constant) uniform Params {
    View view;
    // Radius of all spheres, or the factor on their own radii.
    float radius;
    uint column_kind;
    // Number of 32-bit words of an element of the column, and the first one to read.
    uint column_stride;
    uint column_index;
    // Colour of all for COLUMN_NONE; else the values at the two ends of the colour map, and the origin
    // subtracted from each value.
    vec3 coloring;
    // Number of the `Shading` on the host; the second byte is the vertical axis, the third is 1 if spheres
    // have their own radii, the fourth is the axis of `clip_range`.
    uint shading;
    // Opacity at the middle of a translucent sphere.
    float opacity;
    // Least and greatest coordinate of the centres of drawn spheres along the axis.
    vec2 clip_range;
    Fog fog;
    // Least radius of a drawn sphere: in m, with perspective at a distance of 1 m.
    float min_radius;
};
