// Motion of bodies: the pose of a body at a time, and the velocity of its points. All solvers use it through
// pose_of, surface_of and velocity_of (common/surfaces.glsl).
//
// Needs the constant BODY_KINDS (common/body.glsl), and a buffer `body_data` of float, which holds the
// parameters of a motion from `first_motion` on:
//   oscillating: amplitude (3, m), frequency in Hz, phase in turns;
//   spinning:    a point of the axis (3, m), unit vector of the axis (3), turns per second, start and end
//                (s);
//   keyframed:   the fixed point of rotations (3, m), then for each key: time in s, offset (3, m), rotation
//                as a unit quaternion (4), and the rotation to the next key as a rotation vector in turns
//                (3);
//   dynamic:     the centre of mass at time 0 (3, m), then at the start of a step the displacement (3, m),
//                the rotation as a unit quaternion (4), velocity (3, m/s), angular velocity (3, rad/s) and
//                the time (s), and the length of the step (s).
#ifndef COMMON_MOTION
#define COMMON_MOTION
#include "common/body.glsl"
#include "common/quaternion.glsl"

// Parameters of a key, and of dynamic motion.
const uint KEYFRAME_FLOATS = 11u;
const uint DYNAMIC_FLOATS = 18u;

// Rigid motion of a body at a time: x = pivot + offset + R (X − pivot), with X the position in the scene
// file.
struct Pose {
    vec3 offset_m;
    vec3 pivot_m;
    vec4 rotation;
    vec3 velocity_m_s;
    vec3 angular_velocity_rad_s;
};

vec3 motion_vector(uint at) { return vec3(body_data[at], body_data[at + 1u], body_data[at + 2u]); }

Pose oscillating_pose(uint at, float time_s) {
    vec3 amplitude_m = motion_vector(at);
    float frequency_hz = body_data[at + 3u];
    float turns = frequency_hz * time_s + body_data[at + 4u];
    vec2 sc = sin_cos_of_turns(turns - floor(turns));
    vec3 velocity = TWO_PI * frequency_hz * sc.y * amplitude_m;
    return Pose(sc.x * amplitude_m, vec3(0.0), vec4(0.0, 0.0, 0.0, 1.0), velocity, vec3(0.0));
}

Pose spinning_pose(uint at, float time_s) {
    vec3 axis = motion_vector(at + 3u);
    float turns_per_s = body_data[at + 6u];
    float from_s = body_data[at + 7u];
    float until_s = body_data[at + 8u];
    float turns = turns_per_s * clamp(time_s - from_s, 0.0, until_s - from_s);
    float rate = time_s >= from_s && time_s < until_s ? TWO_PI * turns_per_s : 0.0;
    vec4 rotation = quaternion_about(axis, turns - floor(turns));
    return Pose(vec3(0.0), motion_vector(at), rotation, vec3(0.0), rate * axis);
}

// Interpolates the offset between two keys linearly, and the rotation about a fixed axis; before the first
// key and after the last the body is at rest.
Pose keyframed_pose(uint at, uint n_keys, float time_s) {
    uint keys = at + 3u;
    // The last key that is not later, or the first.
    uint k = 0u;
    // Bound: log2 of the number of keys.
    for (uint end = n_keys; end - k > 1u;) {
        uint middle = (k + end) / 2u;
        if (body_data[keys + KEYFRAME_FLOATS * middle] <= time_s) k = middle;
        else end = middle;
    }
    uint key = keys + KEYFRAME_FLOATS * k;
    vec4 rotation = vec4(body_data[key + 4u], body_data[key + 5u], body_data[key + 6u], body_data[key + 7u]);
    Pose pose = Pose(motion_vector(key + 1u), motion_vector(at), rotation, vec3(0.0), vec3(0.0));
    if (k + 1u >= n_keys || time_s < body_data[key]) return pose;
    float interval_s = body_data[key + KEYFRAME_FLOATS] - body_data[key];
    float share = (time_s - body_data[key]) / interval_s;
    vec3 displacement = motion_vector(key + KEYFRAME_FLOATS + 1u) - pose.offset_m;
    vec3 rotation_vector = motion_vector(key + 8u);
    float turns = sqrt(dot(rotation_vector, rotation_vector));
    pose.offset_m += share * displacement;
    pose.velocity_m_s = displacement / interval_s;
    if (turns > 0.0)
        pose.rotation =
            quaternion_product(quaternion_about(rotation_vector / turns, share * turns), pose.rotation);
    pose.angular_velocity_rad_s = TWO_PI / interval_s * rotation_vector;
    return pose;
}

// Returns the pose in the running step: motion at constant velocities from its start.
Pose dynamic_pose(uint at, float time_s) {
    vec4 rotation = vec4(motion_vector(at + 6u), body_data[at + 9u]);
    Pose pose = Pose(motion_vector(at + 3u), motion_vector(at), rotation, motion_vector(at + 10u),
                     motion_vector(at + 13u));
    if (time_s <= body_data[at + 16u]) return pose;
    float dt_s = body_data[at + 17u];
    pose.offset_m += dt_s * pose.velocity_m_s;
    float rate = sqrt(dot(pose.angular_velocity_rad_s, pose.angular_velocity_rad_s));
    if (rate > 0.0)
        pose.rotation = quaternion_product(
            quaternion_about(pose.angular_velocity_rad_s / rate, rate * dt_s / TWO_PI), pose.rotation);
    return pose;
}

bool is_motion(Body body, uint motion) {
    return (BODY_KINDS & (1u << (FIRST_MOTION_BIT + motion))) != 0u && body.motion == motion;
}

// Returns true for a body that rotates.
bool is_rotating(Body body) {
    return is_motion(body, MOTION_SPINNING) || is_motion(body, MOTION_KEYFRAMED) ||
           is_motion(body, MOTION_DYNAMIC);
}

// Returns true for a body in uniform motion or at rest.
bool is_uniform(Body body) { return !is_motion(body, MOTION_OSCILLATING) && !is_rotating(body); }

// Returns the displacement of a body in uniform motion or at rest.
vec3 uniform_offset(Body body, float time_s) {
    return body.velocity_m_s * clamp(time_s - body.from_s, 0.0, body.until_s - body.from_s);
}

// Returns the pose of a body at a time. Loops that use it several times compute it once: its code is long.
Pose pose_of(Body body, float time_s) {
    if (is_motion(body, MOTION_OSCILLATING)) return oscillating_pose(body.first_motion, time_s);
    if (is_motion(body, MOTION_SPINNING)) return spinning_pose(body.first_motion, time_s);
    if (is_motion(body, MOTION_KEYFRAMED))
        return keyframed_pose(body.first_motion, body.n_keys, time_s);
    if (is_motion(body, MOTION_DYNAMIC)) return dynamic_pose(body.first_motion, time_s);
    vec3 velocity = time_s >= body.from_s && time_s < body.until_s ? body.velocity_m_s : vec3(0.0);
    return Pose(uniform_offset(body, time_s), vec3(0.0), vec4(0.0, 0.0, 0.0, 1.0), velocity, vec3(0.0));
}

// Returns the position in the scene file of the point of a body that is at x. Without rotation the pivot has
// no part in it, so that a body before its first key has the bits of one at rest.
vec3 to_body_frame(Pose pose, vec3 x_m) {
    vec3 place = x_m - pose.offset_m;
    if (pose.rotation.xyz == vec3(0.0)) return place;
    return pose.pivot_m + rotate_inverse(pose.rotation, place - pose.pivot_m);
}

// Returns the velocity in m/s of the point of a body that is at x.
vec3 velocity_of(Body body, Pose pose, vec3 x_m) {
    if (is_uniform(body)) return pose.velocity_m_s;
    return pose.velocity_m_s + cross(pose.angular_velocity_rad_s, x_m - pose.offset_m - pose.pivot_m);
}

// Returns the reference point of torques on a body: its origin, or the pivot of a body that rotates.
vec3 torque_centre(Body body, Pose pose) {
    return (is_rotating(body) ? pose.pivot_m : body.origin_m) + pose.offset_m;
}

#endif
