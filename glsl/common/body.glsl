// A body, as it lies in a buffer.
#ifndef COMMON_BODY
#define COMMON_BODY

// Kinds of bodies.
const uint PLANE = 0u;
const uint BALL = 1u;
const uint VESSEL = 2u;
const uint BOX = 3u;
const uint HEIGHTFIELD = 4u;
const uint CYLINDER = 5u;
const uint MESH = 6u;

struct Body {
    uint kind;
    uint is_sticky;
    float friction;
    // β of grains' contacts with it; the material point method does not read it.
    float damping_ratio;
    // A point of a plane, the centre of a ball, vessel or box, the middle of a mesh, the foot of a cylinder, the corner of a heightfield where both indices are 0 (its height adds
    // to all heights).
    vec3 origin_m;
    // Unit normal of a plane, radius in x of a ball or vessel, half sizes of a box, radius and height of a cylinder, spacing in x of a heightfield,
    // half sizes of the box beyond which a mesh is out of reach.
    vec3 extent;
    // Turns a box or mesh from its own axes to those of the world.
    vec4 rotation;
    // It moves at this velocity from the first time to before the second, and stands still before and after. Times are those at which a
    // step begins.
    vec3 velocity_m_s;
    float from_s;
    float until_s;
    // Heights begin here, so many along each of the two level axes; or what a mesh is made of (common/mesh.glsl), of so many levels and triangles.
    uint first_height;
    uvec2 n_heights;
};

#endif
