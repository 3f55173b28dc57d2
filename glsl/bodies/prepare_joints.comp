#version 460
// Prepares the equations of joints of dynamic bodies, one thread a joint: directions, masses, and velocities
// for which the bodies are in place at the end of the next step (SHAKE, linearized about the motion without
// the joint; Ryckaert, Ciccotti and Berendsen, 1977). What error remains is taken back at a rate.
//
// A spring is that of k ((l₊ + 2 l + l₋)/4 − l₀) + c (l₊ − l₋)/(2 Δt), with the lengths of the step before,
// now and after the next: stable at any stiffness, and without damping of its own.
//
// A joint breaks when the force or the torque of the last step exceeds its limit.
//
// Bytes: 600 a joint. Order-independent.
// Elements: clock = all, shapes = 0, states = 0, joints = threads, joint_states = threads, rows = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "bodies/dynamic_body.glsl"
#include "bodies/joint.glsl"
#include "common/clock.glsl"

layout(scalar, binding = 0) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 1) readonly buffer Shapes { RigidShape shapes[]; };
layout(scalar, binding = 2) readonly buffer States { RigidState states[]; };
layout(scalar, binding = 3) readonly buffer Joints { BodyJoint joints[]; };
layout(scalar, binding = 4) buffer JointStates { JointState joint_states[]; };
layout(scalar, binding = 5) buffer Rows { JointRow rows[]; };
layout(scalar, push_constant) uniform Params {
    uint n_joints;
    float dt_s;
    // Share of an error that the step takes back.
    float taken_back;
};

// Motion of a body over the next step without its joints.
struct Course {
    // Pose now; the displacement is `offset_m` less `rest_m`.
    vec3 offset_m;
    vec3 rest_m;
    vec4 rotation;
    // Displacement of the centre, and rotation, over the step.
    vec3 way_m;
    vec4 turn;
    vec3 velocity_m_s;
    // Angular velocity now, and in the middle of the step.
    vec3 spin;
    vec3 mean_spin;
};

const vec4 NO_ROTATION = vec4(0.0, 0.0, 0.0, 1.0);

Course course_of(uint k) {
    Course course;
    course.offset_m = vec3(0.0);
    course.rest_m = vec3(0.0);
    course.rotation = NO_ROTATION;
    course.way_m = vec3(0.0);
    course.turn = NO_ROTATION;
    course.velocity_m_s = vec3(0.0);
    course.spin = vec3(0.0);
    course.mean_spin = vec3(0.0);
    if (k == NO_PARTNER) return course;
    RigidState state = states[k];
    course.offset_m = state.offset_m;
    course.rest_m = state.offset_rest_m;
    course.rotation = state.rotation;
    course.velocity_m_s = state.velocity_m_s;
    course.way_m = dt_s * state.velocity_m_s;
    course.spin = by_inverse_inertia(shapes[k], state.rotation, state.angular_momentum_kg_m2_s);
    vec4 half_way = after_turn(state.rotation, 0.5 * dt_s * course.spin);
    course.mean_spin = by_inverse_inertia(shapes[k], half_way, state.angular_momentum_kg_m2_s);
    course.turn = after_turn(NO_ROTATION, dt_s * course.mean_spin);
    return course;
}

vec3 velocity_at(Course course, vec3 arm_m) { return course.velocity_m_s + cross(course.spin, arm_m); }

// Returns the displacement over the step of the point of a body at an arm.
vec3 way_of(Course course, vec3 arm_m) { return course.way_m + swing(course.turn, arm_m); }

// Returns the velocity, or the angular velocity, along a row's direction that a unit of impulse gives.
float inverse_mass(Course course, uint k, JointRow row, vec3 arm_m) {
    if (k == NO_PARTNER) return 0.0;
    vec3 across = row.is_angular != 0u ? row.direction : cross(arm_m, row.direction);
    float turning = dot(across, by_inverse_inertia(shapes[k], course.rotation, across));
    return row.is_angular != 0u ? turning : 1.0 / shapes[k].mass_kg + turning;
}

bool is_beyond_limit(BodyJoint joint) {
    vec3 along = vec3(0.0);
    vec3 about = vec3(0.0);
    uint end = joint.first_row + bitCount(joint.directions);
    [[dont_unroll]] for (uint r = joint.first_row; r < end; ++r) {
        vec3 impulse = rows[r].impulse * rows[r].direction;
        if (rows[r].is_angular != 0u) about += impulse;
        else along += impulse;
    }
    return sqrt(dot(along, along)) > joint.breaks_at_n * dt_s ||
           sqrt(dot(about, about)) > joint.breaks_at_n_m * dt_s;
}

void main() {
    uint j = thread_idx();
    if (j >= n_joints || has_fault(clock[0]) || is_frozen(clock[0])) return;
    BodyJoint joint = joints[j];
    JointState before = joint_states[j];
    if (before.is_broken == 0u && is_beyond_limit(joint)) {
        before.is_broken = 1u;
        joint_states[j].is_broken = 1u;
    }
    Course own = course_of(joint.owner);
    Course other = course_of(joint.partner);
    vec3 arm_m = rotate(own.rotation, joint.arm_m);
    vec3 partner_arm_m = rotate(other.rotation, joint.partner_arm_m);
    // By how much the two ends have moved apart since time 0.
    vec3 moved_m = own.offset_m - other.offset_m +
                   (swing(own.rotation, joint.arm_m) - swing(other.rotation, joint.partner_arm_m)) -
                   (own.rest_m - other.rest_m);
    bool is_spring = joint.is_spring != 0u;
    if (!is_spring) partner_arm_m += moved_m;
    vec3 way_m = way_of(own, arm_m) - way_of(other, partner_arm_m);
    vec3 velocity_m_s = velocity_at(own, arm_m) - velocity_at(other, partner_arm_m);
    // Directions along which the end of the step is judged, and about which its middle.
    vec3 axis_now = rotate(other.rotation, joint.axis);
    vec3 across_now = rotate(other.rotation, joint.across);
    vec4 half_turn = after_turn(NO_ROTATION, 0.5 * dt_s * other.mean_spin);
    vec3 axis = rotate(other.turn, axis_now);
    vec3 across = rotate(other.turn, across_now);
    vec3 mean_axis = rotate(half_turn, axis_now);
    vec3 mean_across = rotate(half_turn, across_now);
    vec4 apart = quaternion_product(own.rotation, vec4(-other.rotation.xyz, other.rotation.w));
    vec3 turned = rotation_vector(apart);
    // Only the axis is in common if rotation about it is free: the error is that of its two directions.
    bool is_axis_free = (joint.directions >> 3u & 1u) == 0u || joint.motor == 3u;
    if (is_axis_free) turned = cross(axis_now, rotate(own.rotation, joint.axis));
    vec3 line_m = joint.apart_m + moved_m;
    float length_m = sqrt(dot(line_m, line_m));
    // |a + m| − |a| as (2 a + m)·m/(|a + m| + |a|): a difference of lengths would lose the digits of m.
    float first_length_m = sqrt(dot(joint.apart_m, joint.apart_m));
    float extension_m = joint.extension_m;
    if (is_spring) extension_m += dot(joint.apart_m + line_m, moved_m) / (length_m + first_length_m);
    if (is_spring && length_m > 0.0) axis = line_m / length_m;
    uint r = joint.first_row;
    [[dont_unroll]] for (uint d = 0u; d < MAX_ROWS_OF_JOINT; ++d) {
        if ((joint.directions >> d & 1u) == 0u) continue;
        JointRow row = rows[r];
        row.owner = joint.owner;
        row.partner = joint.partner;
        row.arm_m = arm_m;
        row.partner_arm_m = partner_arm_m;
        row.is_angular = d < 3u ? 0u : 1u;
        vec3 first = d < 3u ? axis : mean_axis;
        vec3 second = d < 3u ? across : mean_across;
        row.direction = d % 3u == 0u ? first : d % 3u == 1u ? second : cross(first, second);
        row.compliance = 0.0;
        row.limit = NO_LIMIT;
        if (d < 3u) {
            float error_m = dot(row.direction, taken_back * moved_m);
            row.wanted = dot(row.direction, velocity_m_s) - (dot(row.direction, way_m) + error_m) / dt_s;
        } else {
            vec3 spin = (own.spin - other.spin) - (own.mean_spin - other.mean_spin);
            row.wanted = dot(row.direction, spin) - taken_back / dt_s * dot(row.direction, turned);
        }
        if (d == joint.motor) {
            row.wanted = joint.motor_speed;
            row.limit = joint.motor_limit * dt_s;
        }
        if (is_spring) {
            float gained_m = extension_m - before.displacement_m;
            // −A − B v of the impulse, with v the rate of the length.
            float a = joint.stiffness_n_m * (extension_m - 0.25 * gained_m) * dt_s +
                      0.5 * joint.damping_n_s_m * gained_m;
            float b = (0.25 * joint.stiffness_n_m * dt_s + 0.5 * joint.damping_n_s_m) * dt_s;
            row.wanted = -a / b;
            row.compliance = 1.0 / b;
        }
        float own_inverse = inverse_mass(own, joint.owner, row, arm_m);
        float inverse = own_inverse + inverse_mass(other, joint.partner, row, partner_arm_m);
        row.mass = before.is_broken != 0u ? 0.0 : 1.0 / (inverse + row.compliance);
        row.change_m_s = d < 3u ? inverse : sqrt(inverse / shapes[joint.owner].mass_kg);
        if (before.is_broken != 0u) row.impulse = 0.0;
        rows[r] = row;
        ++r;
    }
    joint_states[j].displacement_m = is_spring ? extension_m : dot(axis_now, moved_m);
    // Rotation of the owner seen from its partner.
    vec4 seen = quaternion_product(vec4(-other.rotation.xyz, other.rotation.w), own.rotation);
    float along = dot(seen.xyz, joint.axis);
    joint_states[j].angle_rad = 2.0 * atan(seen.w < 0.0 ? -along : along, abs(seen.w));
}
