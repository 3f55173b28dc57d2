// The rigid pieces of slabs: convex polyhedra, where they are and how they move.
#ifndef DEM_PIECE
#define DEM_PIECE
#include "common/quaternion.glsl"

struct PieceMotion {
    // Of the centre of mass.
    vec3 centre_m;
    // Turn since the beginning, a unit quaternion.
    vec4 rotation;
    vec3 velocity_m_s;
    // ω = I⁻¹ L, which motion keeps along with L.
    vec3 spin_1_s;
    vec3 angular_momentum_kg_m2_s;
};

// What of a piece never changes, along its own axes: those that the scene had at the beginning.
struct PieceShape {
    float mass_kg;
    // I⁻¹, symmetric: its diagonal, and its elements yz, zx and xy.
    vec3 inverse_inertia_diagonal;
    vec3 inverse_inertia_rest;
    // Of the farthest corner from the centre.
    float reach_m;
    float friction;
    float damping_ratio;
    uint first_face;
    uint n_faces;
    // Its links in the list of links by piece.
    uint first_link;
    uint n_links;
};

// A face seen from the centre: where its plane is, and its corners, counter-clockwise from outside.
struct PieceFace {
    vec3 normal;
    float offset_m;
    uint first_corner;
    uint n_corners;
};

// A point of a piece's surface that may touch something.
struct PiecePoint {
    // From the centre of its piece.
    vec3 place_m;
    uint piece;
};

// I⁻¹ v of a piece that has turned by q.
vec3 by_inverse_inertia(PieceShape shape, vec4 q, vec3 v) {
    vec3 own = turn_back(q, v);
    vec3 d = shape.inverse_inertia_diagonal;
    vec3 r = shape.inverse_inertia_rest;
    vec3 result = d * own + vec3(r.z * own.y + r.y * own.z, r.z * own.x + r.x * own.z, r.y * own.x + r.x * own.y);
    return turn(q, result);
}

// What a piece adds to 1/m* of a contact `arm_m` from its centre: 1/m + n · (I⁻¹ (r × n)) × r.
float inverse_mass_at(PieceShape shape, vec4 q, vec3 arm_m, vec3 normal) {
    vec3 across = cross(arm_m, normal);
    return 1.0 / shape.mass_kg + dot(across, by_inverse_inertia(shape, q, across));
}

vec3 velocity_at(PieceMotion motion, vec3 arm_m) { return motion.velocity_m_s + cross(motion.spin_1_s, arm_m); }

#endif
