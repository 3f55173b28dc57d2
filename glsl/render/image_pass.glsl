// Parameters of passes over all pixels of the image, and the triangle that covers it.
layout(scalar, push_constant) uniform Params {
    View view;
    uint width;
    uint height;
    Fog fog;
};

vec4 cover(int vertex) { return vec4(vertex == 1 ? 3.0 : -1.0, vertex == 2 ? 3.0 : -1.0, 0.0, 1.0); }
