#version 460
// Finds the contacts of dynamic bodies at the end of the step, a thread for each corner of their surfaces and
// two for each edge: with faces of the domain and with other bodies that they would reach within a step, or
// within a fall of a step: bodies that rest on each other fall alike before their contacts. Bodies that welds
// hold together, and the bodies or groups of a joint but a spring, do not touch each other until it breaks.
//
// An edge touches where the distance to the other body is least, between its ends, which are corners: on a
// flat side at both ends of what is above it, by a thread each, and else at one place. The distance to a
// convex body is convex along the edge, so that bisection of its slope finds the place.
//
// The velocity along the normal after a contact is at least −e times that before, or as much as closes the
// gap in a step: bodies come to rest without overlap. Contacts begin with the impulses that they had in the
// step before, without which a stack would need an iteration for each of its bodies.
//
// Bytes: 160 a point, 100 a body, 84 a contact. Order-independent.
// Elements: clock = all, bodies = all, body_data = 0, shapes = 0, states = 0, points_m = threads.
// Elements: joints = 0, joint_states = 0, found = threads, contacts = threads * MAX_CONTACTS_OF_POINT.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BODY_KINDS = 0x1e00df;
const uint DIMENSIONS = 3u;
#include "bodies/contact.glsl"
#include "bodies/dynamic_body.glsl"
#include "bodies/joint.glsl"
#include "common/clock.glsl"
#include "common/body.glsl"

// Corner or edge of a dynamic body at time 0: its middle from the centre of mass, and half of the edge, from
// the end at which its thread begins to search.
struct TouchingPoint {
    vec3 place_m;
    vec3 half_m;
    uint owner;
};

layout(scalar, binding = 0) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 1) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 2) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 3) readonly buffer Shapes { RigidShape shapes[]; };
layout(scalar, binding = 4) readonly buffer States { RigidState states[]; };
layout(scalar, binding = 5) readonly buffer Points { TouchingPoint points_m[]; };
layout(scalar, binding = 6) buffer Found { uint found[]; };
layout(scalar, binding = 7) buffer Contacts { BodyContact contacts[]; };
layout(scalar, binding = 8) readonly buffer Joints { BodyJoint joints[]; };
layout(scalar, binding = 9) readonly buffer JointStates { JointState joint_states[]; };
layout(scalar, push_constant) uniform Params {
    uint n_points;
    uint n_bodies;
    uint n_joints;
    uint up_axis;
    float dt_s;
    // Speed along the normal below which there is no rebound: that of a fall of two steps.
    float least_rebound_m_s;
    vec3 domain_min_m;
    vec3 domain_max_m;
};
#include "common/surfaces.glsl"

// Surfaces are numbered: the faces of the domain, then the bodies.
const uint FIRST_BODY = 6u;

uint n_found;
uint own_body;
uint own_group;
// Surfaces and impulses of the point in the step before.
uvec4 surface_before;
vec4 normal_before_n_s;
mat4x3 tangential_before_n_s;

// Returns the contact of a point with a surface (normal, distance) at rest that no load moves.
BodyContact contact_with(uint number, vec4 surface, RigidShape shape, vec3 arm_m) {
    BodyContact contact;
    contact.surface = number;
    contact.partner = NO_PARTNER;
    contact.normal = surface.xyz;
    contact.gap_m = surface.w - shape.point_radius_m - shape.gap_m;
    contact.arm_m = arm_m - shape.point_radius_m * surface.xyz;
    contact.partner_arm_m = vec3(0.0);
    contact.surface_m_s = vec3(0.0);
    contact.friction = shape.friction;
    contact.least_m_s = 0.0;
    contact.inverse_kg = 0.0;
    contact.normal_n_s = 0.0;
    contact.tangential_n_s = vec3(0.0);
    return contact;
}

uint group_of(uint partner) { return partner == NO_PARTNER ? FIXED_GROUP : states[partner].group; }

// Returns true if a body is at an end of a joint, given by its group and index: of what is fixed only the
// body itself.
bool is_end(uint group, uint body, uint end_group, uint end_body) {
    return group == end_group && (group != FIXED_GROUP || body == end_body);
}

// Returns true if welds or a joint that is not broken hold the point's body to another one.
bool is_joined_to(uint group, uint body) {
    if (group == own_group) return true;
    [[dont_unroll]] for (uint j = 0u; j < n_joints; ++j) {
        if (joint_states[j].is_broken != 0u || joints[j].is_spring != 0u) continue;
        uint owner = group_of(joints[j].owner);
        uint owner_body = shapes[joints[j].owner].body;
        uint partner = group_of(joints[j].partner);
        uint partner_body = joints[j].body;
        if (is_end(own_group, own_body, owner, owner_body) && is_end(group, body, partner, partner_body))
            return true;
        if (is_end(own_group, own_body, partner, partner_body) && is_end(group, body, owner, owner_body))
            return true;
    }
    return false;
}

// Slope of a distance along an edge that counts as none, and the number of bisections.
const float FLAT = 1e-3;
const uint BISECTIONS = 12u;
// Place of an edge that is too far away, or whose ends are as near as any place between them.
const float NO_PLACE = 2.0;

// Returns the place of an edge, over half of it, that touches a body no farther than a distance from its
// middle: the first from which on the distance to the body no longer falls; and the body's surface there.
// Of a corner its only place.
float touching_place(Body body, Pose pose, Place middle, vec3 half_m, float farthest_m, out vec4 surface) {
    float half_length_m = length(half_m);
    float low = -1.0;
    float high = 0.0;
    float at = 0.0;
    [[dont_unroll]] for (uint i = 0u; i < 3u + BISECTIONS; ++i) {
        Place place = middle;
        place.rest_m += at * half_m;
        vec4 found = surface_of(up_axis, body, pose, place);
        bool is_falling = dot(found.xyz, half_m) < -FLAT * half_length_m;
        if (i == 0u) {
            surface = found;
            if (half_length_m == 0.0) return 0.0;
            if (found.w > farthest_m) return NO_PLACE;
        } else if (i < 3u && is_falling != (i == 1u)) {
            // At the first end it must fall, at the last it must not.
            return NO_PLACE;
        } else if (is_falling) {
            low = at;
        } else {
            high = at;
            surface = found;
        }
        at = i == 0u ? -1.0 : i == 1u ? 1.0 : 0.5 * (low + high);
    }
    return high;
}

// Adds the contact of point p at a velocity relative to the surface, unless a step does not close its gap.
void add(uint p, BodyContact contact, vec3 velocity_m_s, float restitution) {
    float along_m_s = dot(contact.normal, velocity_m_s);
    float way_m = (min(along_m_s, 0.0) - least_rebound_m_s) * dt_s;
    if (!(contact.gap_m + way_m <= 0.0) || n_found == MAX_CONTACTS_OF_POINT) return;
    uint body = contact.surface < FIRST_BODY ? NO_PARTNER : contact.surface - FIRST_BODY;
    if (is_joined_to(group_of(contact.partner), body)) return;
    contact.least_m_s = min(0.0, -contact.gap_m / dt_s);
    if (along_m_s < -least_rebound_m_s) contact.least_m_s = max(contact.least_m_s, -restitution * along_m_s);
    [[unroll]] for (uint c = 0u; c < MAX_CONTACTS_OF_POINT; ++c) {
        if (surface_before[c] != contact.surface) continue;
        contact.normal_n_s = normal_before_n_s[c];
        contact.tangential_n_s = tangential_before_n_s[c];
    }
    contacts[p * MAX_CONTACTS_OF_POINT + n_found] = contact;
    ++n_found;
}

// Returns the pose of a dynamic body at the end of the step.
Pose pose_at_end(Body body) {
    RigidState state = states[body.n_keys];
    vec3 spin = by_inverse_inertia(shapes[body.n_keys], state.rotation, state.angular_momentum_kg_m2_s);
    return Pose(state.offset_m, motion_vector(body.first_motion), state.rotation, state.velocity_m_s, spin);
}

void main() {
    uint p = thread_idx();
    if (p >= n_points || has_fault(clock[0]) || is_frozen(clock[0])) return;
    n_found = 0u;
    [[unroll]] for (uint c = 0u; c < MAX_CONTACTS_OF_POINT; ++c) {
        BodyContact before = contacts[p * MAX_CONTACTS_OF_POINT + c];
        surface_before[c] = c < found[p] ? before.surface : INVALID_INDEX;
        normal_before_n_s[c] = before.normal_n_s;
        tangential_before_n_s[c] = before.tangential_n_s;
    }
    TouchingPoint point = points_m[p];
    RigidShape shape = shapes[point.owner];
    RigidState state = states[point.owner];
    vec3 middle_m = rotate(state.rotation, point.place_m);
    vec3 half_m = rotate(state.rotation, point.half_m);
    float half_length_m = length(half_m);
    vec3 spin = by_inverse_inertia(shape, state.rotation, state.angular_momentum_kg_m2_s);
    float fastest_m_s = length(state.velocity_m_s) + length(spin) * (length(middle_m) + half_length_m);
    Place place =
        Place(motion_vector(bodies[shape.body].first_motion), state.offset_m, middle_m - state.offset_rest_m);
    own_body = shape.body;
    own_group = state.group;
    // The faces are flat: of an edge its ends touch them.
    [[dont_unroll]] for (uint k = half_length_m > 0.0 ? FIRST_BODY : 0u; k < FIRST_BODY; ++k) {
        uint axis = k % 3u;
        float side = k < 3u ? 1.0 : -1.0;
        float face_m = k < 3u ? domain_min_m[axis] : domain_max_m[axis];
        vec4 surface = vec4(0.0);
        surface[axis] = side;
        surface.w = side * ((place.start_m[axis] - face_m) + place.moved_m[axis] + place.rest_m[axis]);
        vec3 velocity_m_s = state.velocity_m_s + cross(spin, middle_m);
        add(p, contact_with(k, surface, shape, middle_m), velocity_m_s, shape.restitution);
    }
    [[dont_unroll]] for (uint k = 0u; k < n_bodies; ++k) {
        if (k == shape.body) continue;
        Body body = bodies[k];
        bool is_dynamic = is_motion(body, MOTION_DYNAMIC);
        Pose pose = is_dynamic ? pose_at_end(body) : pose_of(body, substep_end_s(clock[0], dt_s));
        Place seen = place;
        if (is_dynamic) seen.rest_m += states[body.n_keys].offset_rest_m;
        // Bound of how near an edge may come in the step.
        vec3 apart_m = (seen.start_m - pose.pivot_m) + (seen.moved_m - pose.offset_m) + seen.rest_m;
        float fast_m_s = fastest_m_s + length(pose.velocity_m_s) +
                         length(pose.angular_velocity_rad_s) * (length(apart_m) + half_length_m);
        float farthest_m =
            half_length_m + shape.point_radius_m + shape.gap_m + (fast_m_s + least_rebound_m_s) * dt_s;
        vec4 surface;
        float at = touching_place(body, pose, seen, half_m, farthest_m, surface);
        if (at == NO_PLACE) continue;
        seen.rest_m += at * half_m;
        vec3 arm_m = middle_m + at * half_m;
        vec3 velocity_m_s = state.velocity_m_s + cross(spin, arm_m);
        BodyContact contact = contact_with(FIRST_BODY + k, surface, shape, arm_m);
        float restitution = shape.restitution;
        vec3 from_pivot_m = (seen.start_m - pose.pivot_m) + (seen.moved_m - pose.offset_m) + seen.rest_m;
        vec3 other_m_s = pose.velocity_m_s;
        if (is_dynamic) {
            RigidShape other = shapes[body.n_keys];
            contact.partner = body.n_keys;
            contact.partner_arm_m = from_pivot_m - shape.point_radius_m * surface.xyz;
            contact.friction = sqrt(shape.friction * other.friction);
            restitution = max(restitution, other.restitution);
            other_m_s += cross(pose.angular_velocity_rad_s, contact.partner_arm_m);
        } else {
            if (!is_uniform(body)) other_m_s += cross(pose.angular_velocity_rad_s, from_pivot_m);
            contact.surface_m_s = other_m_s;
        }
        add(p, contact, velocity_m_s - other_m_s, restitution);
    }
    found[p] = n_found;
}
