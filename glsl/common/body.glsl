// Layout of a body in a buffer.
#ifndef COMMON_BODY
#define COMMON_BODY

// Kinds of bodies.
const uint PLANE = 0u;
const uint BALL = 1u;
const uint CONTAINER = 2u;
const uint BOX = 3u;
const uint HEIGHTFIELD = 4u;
const uint CYLINDER = 5u;
const uint MESH = 6u;

struct Body {
    uint kind;
    uint is_sticky;
    float friction;
    // β of contacts of grains with it; the material point method does not read it.
    float damping_ratio;
    // Origin of the body in m: a point of a plane, the centre of a ball, container or box, the middle of a
    // mesh, the centre of the base of a cylinder, the corner of a heightfield where both indices are 0 (its
    // height is added to all heights).
    vec3 origin_m;
    // Extent of the body: the unit normal of a plane, the radius in x of a ball or container, the half sizes
    // of a box, the radius and height of a cylinder, the spacing in x of a heightfield, the half sizes of the
    // box beyond which a mesh is out of reach.
    vec3 extent;
    // Rotation of a box or mesh from its own axes to those of the world.
    vec4 rotation;
    // Velocity of the body from the first time until before the second; before and after it is at rest. The
    // times are those at the start of a step.
    vec3 velocity_m_s;
    float from_s;
    float until_s;
    // Index of the first height, and the number along each of the two horizontal axes; for a mesh the index
    // of its data (common/mesh.glsl), and its numbers of levels and triangles.
    uint first_height;
    uvec2 n_heights;
};

#endif
