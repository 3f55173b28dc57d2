#version 460
// Clears what contacts that ended have left behind, so that a state has the same bits whichever way it was reached. For what leaves the
// device; a step needs no tidiness. Bytes: 4 and 32 for each empty place, a grain. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint MAX_CONTACTS = 16;
layout(constant_id = 2) const uint HAS_ROLLING = 1;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer ContactCount { uint contact_count[]; };
layout(scalar, binding = 2) writeonly buffer Partner { uint partner[]; };
layout(scalar, binding = 3) writeonly buffer Shear { vec4 shear[]; };
layout(scalar, binding = 4) writeonly buffer Rolling { vec3 rolling[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    [[dont_unroll]] for (uint k = contact_count[i]; k < MAX_CONTACTS; ++k) {
        uint slot = i * MAX_CONTACTS + k;
        partner[slot] = INVALID_INDEX;
        shear[slot] = vec4(0.0);
        if (HAS_ROLLING != 0u) rolling[slot] = vec3(0.0);
    }
}
