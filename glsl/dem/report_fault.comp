#version 460
// Describes the grain of the first fault: its state at the end of the step. Of faults of several kinds, it
// describes the one that is reported: too fast, then too many contacts, then not finite.
//
// One thread. Bytes: none a grain. Order-independent.
// Elements: clock = 0, fault = 0, place = 0, sphere = 0, motion = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"
#include "dem/fault.glsl"
#include "dem/grain.glsl"

// Index of each id.
layout(scalar, binding = 0) readonly buffer Place { uint place[]; };
layout(scalar, binding = 1) readonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 2) readonly buffer Motion { GrainMotion motion[]; };
layout(scalar, binding = 3) buffer Fault { DemFault fault[]; };
layout(scalar, binding = 4) readonly buffer Clock { StepClock clock[]; };

void main() {
    if (thread_idx() > 0u) return;
    // An overflow is not a fault of a grain.
    if (clock[0].fault_step == INVALID_INDEX || clock[0].held_at != 0u) return;
    uint id = fault[0].not_finite;
    if (fault[0].crowded != INVALID_INDEX) id = fault[0].crowded;
    if (fault[0].too_fast != INVALID_INDEX) id = fault[0].too_fast;
    if (id == INVALID_INDEX) return;
    uint i = place[id];
    GrainMotion own = motion[i];
    vec4 own_sphere = sphere[i];
    fault[0].radius_m = own_sphere.w;
    fault[0].position_m = own_sphere.xyz;
    fault[0].velocity_m_s = own.velocity_m_s;
    fault[0].spin_1_s = own.spin_1_s;
}
