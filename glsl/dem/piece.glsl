// Rigid pieces of slabs: convex polyhedra, with their position and motion.
#ifndef DEM_PIECE
#define DEM_PIECE
#include "common/rigid.glsl"

struct PieceMotion {
    // Centre of mass.
    vec3 centre_m;
    // Rotation since the initial state, a unit quaternion.
    vec4 rotation;
    vec3 velocity_m_s;
    // ω = I⁻¹ L, stored along with L.
    vec3 spin_1_s;
    vec3 angular_momentum_kg_m2_s;
};

// Pose of a piece when contact lists were built.
struct PiecePose {
    vec3 centre_m;
    vec4 rotation;
};

// Constant properties of a piece, in its own axes: those of the scene in the initial state.
struct PieceShape {
    float mass_kg;
    // I⁻¹, symmetric: its diagonal, and its elements yz, zx and xy.
    vec3 inverse_inertia_diagonal;
    vec3 inverse_inertia_rest;
    // Distance of the farthest corner from the centre.
    float reach_m;
    float friction;
    float damping_ratio;
    uint first_face;
    uint n_faces;
    // Range of its links in the list of links by piece.
    uint first_link;
    uint n_links;
};

// Face as seen from the centre: its plane, and its corners, counter-clockwise from outside.
struct PieceFace {
    vec3 normal;
    float offset_m;
    uint first_corner;
    uint n_corners;
};

// Point of a piece's surface that may touch something.
struct PiecePoint {
    // Offset from the centre of its piece.
    vec3 place_m;
    uint piece;
};

// Returns I⁻¹ v of a piece rotated by q.
vec3 by_inverse_inertia(PieceShape shape, vec4 q, vec3 v) {
    return by_inverse_inertia(shape.inverse_inertia_diagonal, shape.inverse_inertia_rest, q, v);
}

// Returns the contribution of a piece to 1/m* of a contact `arm_m` from its centre: 1/m + n · (I⁻¹ (r × n)) ×
// r.
float inverse_mass_at(PieceShape shape, vec4 q, vec3 arm_m, vec3 normal) {
    vec3 across = cross(arm_m, normal);
    return 1.0 / shape.mass_kg + dot(across, by_inverse_inertia(shape, q, across));
}

vec3 velocity_at(PieceMotion motion, vec3 arm_m) {
    return motion.velocity_m_s + cross(motion.spin_1_s, arm_m);
}

#endif
