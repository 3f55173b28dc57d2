// A sphere drawn as a quad: the vertex shader places the quad, the fragment shader intersects the ray
// exactly. Needs render/view.glsl.

// Returns true if a sphere can be visible. False for a centre of NaN.
bool imposter_visible(View view, vec3 center, float radius) {
    if (!has_perspective(view)) return dot(center, center) >= 0.0;
    // Not wholly in front of the near plane, nor with the eye inside it.
    return dot(center, view.forward) + radius > view.near && dot(center, center) > 1.0001 * radius * radius;
}

// Returns a corner of a quad that just covers the sphere as seen from the eye, relative to the eye, like
// `center`.
//
// The quad touches the sphere at its nearest point to the eye, so the surface always lies behind it: the
// depth written by the fragment shader is then never greater than the quad's own, and early depth rejection
// stays possible (layout(depth_less)). Its half side follows from the cone that touches the sphere, tan² =
// r²/(d² − r²). `center` must be farther than `radius`. Without perspective the quad faces the viewer.
vec3 imposter_corner(View view, vec3 center, float radius, vec2 corner) {
    if (!has_perspective(view))
        return center + radius * (corner.x * view.right + corner.y * view.up - view.forward);
    float squared = dot(center, center);
    float d = sqrt(squared);
    vec3 axis = center / d;
    vec3 side = cross(axis, view.up);
    // Along `view.up` any direction across the axis is valid.
    side = dot(side, side) > 1e-6
               ? normalize(side)
               : normalize(cross(axis, abs(axis.x) < 0.5 ? vec3(1, 0, 0) : vec3(0, 1, 0)));
    float half_side = (d - radius) * radius * inversesqrt(squared - radius * radius);
    return axis * (d - radius) + half_side * (corner.x * side + corner.y * cross(side, axis));
}

// Finds the nearest point of the sphere along the view ray through `ray`, a point of the quad; both are
// relative to the eye. Returns false if the ray misses.
bool imposter_hit(View view, vec3 ray, vec3 center, float radius, out vec3 hit) {
    vec3 direction = has_perspective(view) ? normalize(ray) : view.forward;
    vec3 origin = has_perspective(view) ? vec3(0.0) : ray;
    float along = dot(direction, center - origin);
    // The squared distance of the ray from the centre uses a difference of vectors: a difference of squares
    // would cancel far away.
    vec3 across = center - origin - along * direction;
    float half_chord_squared = radius * radius - dot(across, across);
    if (half_chord_squared < 0.0) return false;
    hit = origin + (along - sqrt(half_chord_squared)) * direction;
    return true;
}
