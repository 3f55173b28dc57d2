// Parameters that the two stages of `wireframe` share.
layout(scalar, push_constant) uniform Params {
    View view;
    // Corner of the box, and its edges from there.
    vec3 corner;
    vec3 along[3];
    // Colour, eight bits per component.
    uint color;
    // Size of the image and width of a line, in pixels.
    vec2 image_size;
    float line_width;
};
