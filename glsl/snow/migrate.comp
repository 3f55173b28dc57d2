#version 460
// Assigns every particle of one phase its index in the next step's arrays (Chen2021 §7.2): the particles that
// stay close the gaps, those that leave are appended to the other phase.
//
// `rank` is the exclusive scan of `leaves`, so one scan serves both. Each index gets the particle's cell, and
// its source: the old index, plus CAPACITY for a particle from the other phase.
// Bytes: 24 a particle. Order-independent: no place is written twice.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Leaves { uint leaves[]; };
layout(scalar, binding = 2) readonly buffer Rank { uint rank[]; };
layout(scalar, binding = 3) readonly buffer Key { uint key[]; };
layout(scalar, binding = 4) readonly buffer OtherCount { uint other_count[]; };
layout(scalar, binding = 5) readonly buffer OtherLeavers { uint other_leavers[]; };
layout(scalar, binding = 6) writeonly buffer StayKey { uint stay_key[]; };
layout(scalar, binding = 7) writeonly buffer StayOrigin { uint stay_origin[]; };
layout(scalar, binding = 8) writeonly buffer LeaveKey { uint leave_key[]; };
layout(scalar, binding = 9) writeonly buffer LeaveOrigin { uint leave_origin[]; };
layout(scalar, push_constant) uniform Params { uint capacity; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (leaves[i] == 0u) {
        uint place = i - rank[i];
        stay_key[place] = key[i];
        stay_origin[place] = i;
    } else {
        uint place = other_count[0] - other_leavers[0] + rank[i];
        leave_key[place] = key[i];
        leave_origin[place] = capacity + i;
    }
}
