// Nearest point of a convex polyhedron. Needs the buffers `faces` of PieceFace and `corners` of vec3.
#ifndef DEM_POLYHEDRON
#define DEM_POLYHEDRON
#include "dem/planes.glsl"

// Returns (unit normal, signed distance) of the surface from a point, both in the piece's own axes. For a
// point outside, the nearest point is on a face that the point is above: within it, or on an edge that the
// point is beyond.
vec4 polyhedron_surface(PieceShape shape, vec3 local_m) {
    vec4 plane = farthest_plane(shape, local_m);
    if (plane.w <= 0.0) return plane;
    float best = 3.0e38;
    vec3 apart = plane.xyz;
    [[dont_unroll]] for (uint k = 0u; k < shape.n_faces; ++k) {
        PieceFace face = faces[shape.first_face + k];
        float above = dot(face.normal, local_m) - face.offset_m;
        if (above <= 0.0) continue;
        bool is_within = true;
        vec3 a = corners[face.first_corner + face.n_corners - 1u];
        [[dont_unroll]] for (uint c = 0u; c < face.n_corners; ++c) {
            vec3 b = corners[face.first_corner + c];
            vec3 edge = b - a;
            vec3 from = local_m - a;
            if (dot(cross(edge, from), face.normal) < 0.0) {
                is_within = false;
                vec3 off = from - clamp(dot(from, edge) / dot(edge, edge), 0.0, 1.0) * edge;
                float size = dot(off, off);
                if (size < best) {
                    best = size;
                    apart = off;
                }
            }
            a = b;
        }
        if (is_within && above * above < best) {
            best = above * above;
            apart = above * face.normal;
        }
    }
    float distance = sqrt(best);
    return vec4(apart / distance, distance);
}

#endif
