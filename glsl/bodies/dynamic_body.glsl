// Rigid bodies that move under their loads: state, mass and inertia.
#ifndef BODIES_DYNAMIC_BODY
#define BODIES_DYNAMIC_BODY
#include "common/rigid.glsl"
#include "common/vectors.glsl"

// Most dynamic bodies of a scene: one workgroup solves their contacts.
const uint MAX_DYNAMIC_BODIES = 128u;

// Motion of a dynamic body at the start of a step, and what it gained in the last one.
struct RigidState {
    // Displacement of the centre of mass since time 0, and by how much rounding made it too large.
    vec3 offset_m;
    vec3 offset_rest_m;
    // Rotation since time 0, a unit quaternion.
    vec4 rotation;
    vec3 velocity_m_s;
    // Angular velocity in the middle of the step, at which the body turns.
    vec3 angular_velocity_rad_s;
    vec3 angular_momentum_kg_m2_s;
    // Momentum and angular momentum that loads and gravity added in the last step.
    vec3 gained_n_s;
    vec3 gained_n_m_s;
    // Length of that step in s.
    float gained_in_s;
    // Number of the bodies that welds hold together: their least index + 1, or FIXED_GROUP.
    uint group;
};

// Group of what no load moves.
const uint FIXED_GROUP = 0u;

// Constant properties of a dynamic body.
struct RigidShape {
    // Index of the body, and of its load.
    uint body;
    uint load;
    float mass_kg;
    // I⁻¹ about the centre of mass along the scene's axes at time 0: its diagonal, and its elements yz, zx
    // and xy.
    vec3 inverse_inertia_diagonal;
    vec3 inverse_inertia_rest;
    // Share of the momentum gained in the last step that this step repeats: m_a/(m + m_a) with the added mass
    // m_a of the particles around the body, and the same of angular momentum.
    float repeated;
    float repeated_angular;
    // Points of its surface that may touch other bodies and faces, and the radius of the spheres about them.
    uint first_point;
    uint n_points;
    float point_radius_m;
    // Distance of surfaces in contact.
    float gap_m;
    float friction;
    float restitution;
};

// Returns I⁻¹ v of a body rotated by q.
vec3 by_inverse_inertia(RigidShape shape, vec4 q, vec3 v) {
    return by_inverse_inertia(shape.inverse_inertia_diagonal, shape.inverse_inertia_rest, q, v);
}

#endif
