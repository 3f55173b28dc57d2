// Parameters of passes that draw the particles of a fluid as spheres. Needs render/view.glsl.
layout(scalar, push_constant) uniform Params {
    View view;
    // Radius of spheres in m.
    float radius;
    // Factor from chords to thickness: the volume of a particle over that of its sphere.
    float chord_factor;
    // Size of the image in pixels.
    uint width;
    uint height;
};
