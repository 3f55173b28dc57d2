#version 460
// Finds the contacts of dynamic bodies at the end of the step, a thread for each point of their surfaces:
// with faces of the domain and with other bodies that the point would reach within a step.
//
// The velocity along the normal after a contact is at least −e times that before, or as much as closes the
// gap in a step: bodies come to rest without overlap. Contacts begin with the impulses that they had in the
// step before, without which a stack would need an iteration for each of its bodies.
//
// Bytes: 148 a point, 100 a body, 84 a contact. Order-independent.
// Elements: clock = all, bodies = all, body_data = 0, shapes = 0, states = 0, points_m = threads.
// Elements: found = threads, contacts = threads * MAX_CONTACTS_OF_POINT.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BODY_KINDS = 0x1e00df;
const uint DIMENSIONS = 3u;
#include "bodies/contact.glsl"
#include "common/clock.glsl"
#include "common/rigid.glsl"
#include "common/body.glsl"

// Point of the surface of a dynamic body, from its centre of mass at time 0.
struct TouchingPoint {
    vec3 place_m;
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
layout(scalar, push_constant) uniform Params {
    uint n_points;
    uint n_bodies;
    uint up_axis;
    // Bits of the axes along which the domain is periodic.
    uint periodic;
    float dt_s;
    // Speed along the normal below which there is no rebound: that of a fall of two steps.
    float least_rebound_m_s;
    vec3 domain_min_m;
    vec3 domain_max_m;
};
#include "common/surfaces.glsl"

uint n_found;
// Surfaces and impulses of the point in the step before.
uvec4 surface_before;
vec4 normal_before_n_s;
mat4x3 tangential_before_n_s;

// Adds the contact of a point with a surface (normal, distance), unless the point does not reach it.
void touch(uint p, RigidShape shape, vec3 place_m, vec3 arm_m, vec3 velocity_m_s, uint number, vec4 surface,
           Body body) {
    BodyContact contact;
    contact.surface = number;
    contact.partner = NO_PARTNER;
    contact.normal = surface.xyz;
    contact.gap_m = surface.w - shape.point_radius_m - shape.gap_m;
    contact.arm_m = arm_m - shape.point_radius_m * surface.xyz;
    contact.partner_arm_m = vec3(0.0);
    contact.surface_m_s = vec3(0.0);
    contact.friction = shape.friction;
    contact.normal_n_s = 0.0;
    contact.tangential_n_s = vec3(0.0);
    float restitution = shape.restitution;
    vec3 other_m_s = vec3(0.0);
    if (is_motion(body, MOTION_DYNAMIC)) {
        contact.partner = body.n_keys;
        RigidShape other = shapes[body.n_keys];
        RigidState state = states[body.n_keys];
        vec3 at_m = place_m - shape.point_radius_m * surface.xyz;
        contact.partner_arm_m = at_m - (motion_vector(body.first_motion) + state.offset_m);
        vec3 spin = by_inverse_inertia(other, state.rotation, state.angular_momentum_kg_m2_s);
        other_m_s = state.velocity_m_s + cross(spin, contact.partner_arm_m);
        contact.friction = sqrt(shape.friction * other.friction);
        restitution = max(restitution, other.restitution);
    } else if (body.kind != PLANE || body.motion != MOTION_UNIFORM || body.velocity_m_s != vec3(0.0)) {
        Pose pose = pose_of(body, step_end_s(clock[0], dt_s));
        contact.surface_m_s = velocity_of(body, pose, place_m);
        other_m_s = contact.surface_m_s;
    }
    float along_m_s = dot(surface.xyz, velocity_m_s - other_m_s);
    if (!(contact.gap_m + min(along_m_s, 0.0) * dt_s <= 0.0) || n_found == MAX_CONTACTS_OF_POINT) return;
    contact.least_m_s = min(0.0, -contact.gap_m / dt_s);
    if (along_m_s < -least_rebound_m_s) contact.least_m_s = max(contact.least_m_s, -restitution * along_m_s);
    [[unroll]] for (uint c = 0u; c < MAX_CONTACTS_OF_POINT; ++c) {
        if (surface_before[c] != number) continue;
        contact.normal_n_s = normal_before_n_s[c];
        contact.tangential_n_s = tangential_before_n_s[c];
    }
    contacts[p * MAX_CONTACTS_OF_POINT + n_found] = contact;
    ++n_found;
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
    vec3 arm_m = rotate(state.rotation, point.place_m);
    vec3 place_m = motion_vector(bodies[shape.body].first_motion) + state.offset_m + arm_m;
    vec3 spin = by_inverse_inertia(shape, state.rotation, state.angular_momentum_kg_m2_s);
    vec3 velocity_m_s = state.velocity_m_s + cross(spin, arm_m);
    // Stands for the faces of the domain: a plane at rest.
    Body face = bodies[shape.body];
    face.kind = PLANE;
    face.motion = MOTION_UNIFORM;
    face.velocity_m_s = vec3(0.0);
    [[dont_unroll]] for (uint k = 0u; k < 6u; ++k) {
        uint axis = k % 3u;
        if ((periodic >> axis & 1u) != 0u) continue;
        vec4 surface = vec4(0.0);
        surface[axis] = k < 3u ? 1.0 : -1.0;
        surface.w = k < 3u ? place_m[axis] - domain_min_m[axis] : domain_max_m[axis] - place_m[axis];
        touch(p, shape, place_m, arm_m, velocity_m_s, k, surface, face);
    }
    [[dont_unroll]] for (uint k = 0u; k < n_bodies; ++k) {
        if (k == shape.body) continue;
        Body body = bodies[k];
        Pose pose = pose_of(body, step_end_s(clock[0], dt_s));
        vec4 surface = surface_of(up_axis, body, pose, place_m);
        touch(p, shape, place_m, arm_m, velocity_m_s, 6u + k, surface, body);
    }
    found[p] = n_found;
}
