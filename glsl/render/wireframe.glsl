// Parameters that the two stages of `wireframe` share.
layout(scalar, push_constant) uniform Params {
    View view;
    // Corners of the box.
    vec3 lo;
    vec3 hi;
    vec4 color;
    // Of the image and of a line, in pixels.
    vec2 image_size;
    float line_width;
};
