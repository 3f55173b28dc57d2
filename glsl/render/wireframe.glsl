// Parameters that the two stages of `wireframe` share.
layout(scalar, push_constant) uniform Params {
    View view;
    // A corner of the box, and its edges from there.
    vec3 corner;
    vec3 along[3];
    // Eight bits a component.
    uint color;
    // Of the image and of a line, in pixels.
    vec2 image_size;
    float line_width;
};
