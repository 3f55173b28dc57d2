// Camera and light of every shader of this folder.
//
// There are no matrices: four vectors and four numbers fit push constants, and the reversed infinite depth
// near / z is then exact to the last bit of a division. Clip space is Vulkan's: y points down, depth 1 is at
// `near` and 0 infinitely far. Without perspective depth is linear, and the eye is at the target: depth 1 is
// `depth_reach` before it and 0 as far behind it.
#extension GL_EXT_scalar_block_layout : require

struct View {
    vec3 eye;
    vec3 right;
    vec3 up;
    vec3 forward;
    // Tangents of half the horizontal and half the vertical angle of view; without perspective half the
    // visible extent, in m.
    vec2 half_extent;
    float near;
    // 0 with perspective.
    float depth_reach;
};

bool has_perspective(View view) {
    return view.depth_reach == 0.0;
}

// Returns the depth of a point given relative to the eye.
float depth_at(View view, vec3 from_eye) {
    float z = dot(from_eye, view.forward);
    return has_perspective(view) ? view.near / z : 0.5 - 0.5 * z / view.depth_reach;
}

// Returns true if a point given relative to the eye is before the near plane.
bool is_too_near(View view, vec3 from_eye) {
    return has_perspective(view) && dot(from_eye, view.forward) < view.near;
}

// Returns the unit vector from a point given relative to the eye towards the viewer.
vec3 toward_viewer(View view, vec3 from_eye) {
    return has_perspective(view) ? -normalize(from_eye) : -view.forward;
}

// Position outside the clip volume: a triangle of three of these is never drawn.
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);

// Returns a corner of two triangles over [−1, 1]²; `vertex` counts from 0 to 5.
vec2 quad_corner(uint vertex) {
    // Corners 0 1 2 and 2 1 3, two bits each, the first lowest; the bits of a corner say if x and y are at
    // the upper end.
    uint corner = (0xDA4u >> (2u * vertex)) & 3u;
    return vec2(corner & 1u, corner >> 1u) * 2.0 - 1.0;
}

// Returns the clip-space position of a point given relative to the eye.
vec4 clip_position(View view, vec3 from_eye) {
    float z = dot(from_eye, view.forward);
    return vec4(
        dot(from_eye, view.right) / view.half_extent.x,
        -dot(from_eye, view.up) / view.half_extent.y,
        has_perspective(view) ? view.near : 0.5 - 0.5 * z / view.depth_reach,
        has_perspective(view) ? z : 1.0);
}
