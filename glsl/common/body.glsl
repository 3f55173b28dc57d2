// Layout of a body in a buffer.
#ifndef COMMON_BODY
#define COMMON_BODY

// Kinds of bodies.
const uint PLANE = 0u;
const uint SPHERE = 1u;
const uint BOX = 2u;
const uint HEIGHTFIELD = 3u;
const uint UPRIGHT_CYLINDER = 4u; // Cylinder along the up axis, without a lower end.
const uint MESH = 5u;
const uint CYLINDER = 6u; // Cylinder along any axis, closed at both ends.
const uint CAPSULE = 7u;

// Motions of bodies (common/motion.glsl). Uniform motion includes rest.
const uint MOTION_UNIFORM = 0u;
const uint MOTION_OSCILLATING = 1u;
const uint MOTION_SPINNING = 2u;
const uint MOTION_KEYFRAMED = 3u;
const uint MOTION_DYNAMIC = 4u; // By its loads; the parameters are of the running step.

// Kernels with bodies have a constant BODY_KINDS: a bit for each kind of body in the scene, and from this one
// on for each kind of motion that is not uniform. No instruction is spent on others. By default it has all
// but meshes and dynamic bodies.
const uint FIRST_MOTION_BIT = 16u;

struct Body {
    uint kind;
    uint is_sticky;
    float friction;
    // β of contacts of grains with it; the material point method does not read it.
    float damping_ratio;
    // Origin of the body in m: a point of a plane, the centre of a sphere, box, cylinder or capsule, the
    // middle of a mesh, the centre of the base of an upright cylinder, the corner of a heightfield where both
    // indices are 0 (its height is added to all heights).
    vec3 origin_m;
    // Extent of the body: the unit normal of a plane, the radius in x of a sphere, the half sizes of a box,
    // the radius and height of an upright cylinder, the radius and half length of a cylinder or capsule (of
    // a capsule without its caps), the spacing in x of a heightfield, the half sizes of the box beyond which
    // a mesh is out of reach.
    vec3 extent;
    // Rotation of a box, mesh, cylinder or capsule from its own axes to those of the world. The own y axis
    // is the axis of a cylinder or capsule.
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
    // 1 for a container, whose particles are inside its surface.
    uint is_container;
    // Kind of motion; for one that is not uniform the index of its parameters in `body_data`
    // (common/motion.glsl), and the number of keys of a keyframed one, or the index of a dynamic one among
    // these.
    uint motion;
    uint first_motion;
    uint n_keys;
    // Index of the boundary map of a mesh in `body_data` (pbd/boundary_map.glsl), 0 for none.
    uint first_map;
};

#endif
