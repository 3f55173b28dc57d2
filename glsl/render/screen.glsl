// Pixels, distances along the line of sight, and the points that they show. Needs render/view.glsl.
//
// A distance is the component along `forward` of a point relative to the eye, in m; without perspective the
// eye is at the target, and distances may be negative.

// Distance of a pixel that shows nothing.
const float NO_SURFACE = 1e30;

bool shows_surface(float z) { return z < 0.5 * NO_SURFACE; }

// Returns the distance of a value of the depth image.
float distance_of_depth(View view, float depth) {
    if (depth <= 0.0) return NO_SURFACE;
    return has_perspective(view) ? view.near / depth : (1.0 - 2.0 * depth) * view.depth_reach;
}

// Returns the point that a pixel shows at a distance, relative to the eye; `at` is in pixels from the top
// left corner.
vec3 point_of_pixel(View view, vec2 at, vec2 image_size, float z) {
    vec2 on_plane = (2.0 * at / image_size - 1.0) * view.half_extent * (has_perspective(view) ? z : 1.0);
    return on_plane.x * view.right - on_plane.y * view.up + z * view.forward;
}

// Returns the position in pixels of a point relative to the eye; it must not be at the eye's own distance.
vec2 pixel_of_point(View view, vec3 from_eye, vec2 image_size) {
    vec4 clip = clip_position(view, from_eye);
    return (0.5 * clip.xy / clip.w + 0.5) * image_size;
}
