// The planes of a convex polyhedron. Needs the buffer `faces` of PieceFace.
#ifndef DEM_PLANES
#define DEM_PLANES
#include "dem/piece.glsl"

// (unit normal, distance) of the plane that a point is farthest above, or least below: inside, that is the nearest face; outside, the
// polyhedron is at least as far.
vec4 farthest_plane(PieceShape shape, vec3 local_m) {
    vec4 farthest = vec4(0.0, 0.0, 0.0, -3.0e38);
    [[dont_unroll]] for (uint k = 0u; k < shape.n_faces; ++k) {
        PieceFace face = faces[shape.first_face + k];
        float distance = dot(face.normal, local_m) - face.offset_m;
        if (distance > farthest.w) farthest = vec4(face.normal, distance);
    }
    return farthest;
}

#endif
