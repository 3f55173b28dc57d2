// Parameters that the two stages of `particles` share.
layout(scalar, push_constant) uniform Params {
    View view;
    float radius;
    // Values of the column at the two ends of the colour map.
    float lo;
    float hi;
    uint column_kind;
    // What all of them have where there is no column to colour by.
    vec3 uniform_color;
    // The same numbers as `Shading` on the host; in the second byte the axis that points up.
    uint shading;
    // Of the middle of a translucent sphere.
    float opacity;
    Fog fog;
    vec3 to_sun;
};
