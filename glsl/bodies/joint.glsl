// Joints of dynamic bodies.
#ifndef BODIES_JOINT
#define BODIES_JOINT
#include "bodies/contact.glsl"

// Directions of a joint's rows: along its three axes, then about them.
const uint MAX_ROWS_OF_JOINT = 6u;
// Limit of a row without one.
const float NO_LIMIT = 1e30;
// No row of a joint.
const uint NO_ROW = 0xffffffffu;

// Constant properties of a joint of a dynamic body, its owner, with a partner or a place.
struct BodyJoint {
    uint owner;
    // Index of the partner among dynamic bodies, or NO_PARTNER for a body at rest or a place.
    uint partner;
    // Index of the partner among all bodies, or NO_PARTNER for a place.
    uint body;
    // A bit for each direction that has a row.
    uint directions;
    uint first_row;
    uint is_spring;
    // The joint from the two centres of mass at time 0; of a spring its two ends.
    vec3 arm_m;
    vec3 partner_arm_m;
    // From the partner's end of a spring to the owner's at time 0, and by how much it is too long then.
    vec3 apart_m;
    float extension_m;
    // Unit vector at time 0, which moves with the partner, and one across it.
    vec3 axis;
    vec3 across;
    float stiffness_n_m;
    float damping_n_s_m;
    // Row of the motor, its speed in m/s or rad/s, and its largest force in N or torque in N m.
    uint motor;
    float motor_speed;
    float motor_limit;
    float breaks_at_n;
    float breaks_at_n_m;
};

// Returns true if a joint leaves nothing free.
bool is_weld(BodyJoint joint) { return joint.directions == 0x3fu && joint.motor == NO_ROW; }

// State of a joint.
struct JointState {
    // Displacement along the axis in m, or extension of a spring; rotation about the axis in rad.
    float displacement_m;
    float angle_rad;
    uint is_broken;
};

// One equation of a joint: a direction, and the relative velocity that it has after the solve.
struct JointRow {
    uint owner;
    uint partner;
    // 0 for a velocity, 1 for an angular velocity.
    uint is_angular;
    vec3 direction;
    vec3 arm_m;
    vec3 partner_arm_m;
    // Relative velocity after the solve, less `compliance` times the impulse.
    float wanted;
    float compliance;
    // Impulse that gives a unit of relative velocity; 0 for a row of a broken joint.
    float mass;
    // Change of velocity in m/s that counts as an iteration's, of an impulse of 1.
    float change_m_s;
    float limit;
    // Sum of the impulses in N s or N m s; at first that of the step before.
    float impulse;
};

#endif
