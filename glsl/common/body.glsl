// A body, as it lies in a buffer.
#ifndef COMMON_BODY
#define COMMON_BODY

const uint PLANE = 0u;
const uint BALL = 1u;
const uint VESSEL = 2u;
const uint BOX = 3u;
const uint HEIGHTFIELD = 4u;
const uint CYLINDER = 5u;
const uint MESH = 6u;
// A cylinder closed at both ends, and a capsule, along any axis.
const uint ROD = 7u;
const uint CAPSULE = 8u;

// How a body moves (common/motion.glsl). Uniform is also at rest.
const uint UNIFORM = 0u;
const uint OSCILLATING = 1u;
const uint SPINNING = 2u;
const uint KEYFRAMED = 3u;

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
    // half sizes of the box beyond which a mesh is out of reach, radius and half length of a rod or capsule (its caps not counted).
    vec3 extent;
    // Rotates a box, mesh, rod or capsule from its own axes, of which y is along a rod or capsule, to those of the world.
    vec4 rotation;
    // It moves at this velocity from the first time to before the second, and stands still before and after. Times are those at which a
    // step begins.
    vec3 velocity_m_s;
    float from_s;
    float until_s;
    // Heights begin here, so many along each of the two level axes; or what a mesh is made of (common/mesh.glsl), of so many levels and triangles.
    uint first_height;
    uvec2 n_heights;
    // Whether it is a container: particles are inside its surface. (A vessel is one anyway.)
    uint is_container;
    // Numbers of a motion that is not uniform begin here in the same buffer; of a keyframed one there are so many keys.
    uint motion;
    uint first_motion;
    uint n_keys;
};

#endif
