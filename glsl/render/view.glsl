// The camera that every shader of this area projects with, and the light that it carries.
//
// No matrices: four vectors and three numbers fit push constants, and the reversed infinite depth near / z is then exact
// to the last bit of a division. Clip space is Vulkan's: y points down, depth 1 lies at `near` and 0 infinitely far.
#extension GL_EXT_scalar_block_layout : require

struct View {
    vec3 eye;
    vec3 right;
    vec3 up;
    vec3 forward;
    // Tangents of half the horizontal and half the vertical angle of view.
    vec2 tan_half_fov;
    float near;
};

// A position outside the clip volume: a triangle of three of these is never drawn.
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);

// Two triangles over [−1, 1]²; `vertex` counts from 0 to 5.
vec2 quad_corner(uint vertex) {
    // Corners 0 1 2 and 2 1 3, two bits each, the first lowest; a corner's bits say whether x and y are at the far end.
    uint corner = (0xDA4u >> (2u * vertex)) & 3u;
    return vec2(corner & 1u, corner >> 1u) * 2.0 - 1.0;
}

// Clip-space position of a point given relative to the eye.
vec4 clip_position(View view, vec3 from_eye) {
    return vec4(
        dot(from_eye, view.right) / view.tan_half_fov.x,
        -dot(from_eye, view.up) / view.tan_half_fov.y,
        view.near,
        dot(from_eye, view.forward));
}
