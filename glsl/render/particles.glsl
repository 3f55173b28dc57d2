// Parameters that the two stages of `particles` share.
layout(scalar, push_constant) uniform Params {
    View view;
    float radius;
    // Values of the column at the two ends of the colour map.
    float lo;
    float hi;
    uint column_kind;
    // 1: light the spheres; 0: show the colour map's own colours.
    uint is_lit;
};
