// Planes of a convex polyhedron. Needs the buffer `faces` of PieceFace.
#ifndef DEM_PLANES
#define DEM_PLANES
#include "dem/piece.glsl"

// Returns (unit normal, distance) of the plane with the maximum signed distance from a point: inside, it is
// the nearest face; outside, the distance to the polyhedron is at least as large.
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
