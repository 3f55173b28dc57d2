// A sphere drawn as a quad: the vertex shader places the quad, the fragment shader intersects the ray exactly.

// Corner of a quad that just covers the sphere as seen from the eye, relative to the eye; `center` is relative to it too.
//
// The quad touches the sphere where it is nearest to the eye, so that the surface always lies behind it: depth written
// by the fragment shader is then never greater than the quad's own, and early depth rejection stays possible
// (layout(depth_less)). Its half side follows from the cone that touches the sphere, tan² = r²/(d² − r²). `center`
// must be farther than `radius`.
vec3 imposter_corner(vec3 center, float radius, vec3 view_up, vec2 corner) {
    float squared = dot(center, center);
    float d = sqrt(squared);
    vec3 axis = center / d;
    vec3 side = cross(axis, view_up);
    // Looking along `view_up` any direction across the axis will do.
    side = dot(side, side) > 1e-6 ? normalize(side) : normalize(cross(axis, abs(axis.x) < 0.5 ? vec3(1, 0, 0) : vec3(0, 1, 0)));
    float half_side = (d - radius) * radius * inversesqrt(squared - radius * radius);
    return axis * (d - radius) + half_side * (corner.x * side + corner.y * cross(side, axis));
}

// Nearest point of the sphere along `ray` from the eye, relative to the eye; false if the ray misses.
bool imposter_hit(vec3 ray, vec3 center, float radius, out vec3 hit) {
    vec3 direction = normalize(ray);
    float along = dot(direction, center);
    // The squared distance of the ray from the centre by a difference of vectors: that of squares would cancel far away.
    vec3 across = center - along * direction;
    float half_chord_squared = radius * radius - dot(across, across);
    if (half_chord_squared < 0.0) return false;
    hit = (along - sqrt(half_chord_squared)) * direction;
    return true;
}
