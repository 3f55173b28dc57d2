#version 460
// Counts the particles that emit has added. If there is no room for them, none counts: this step and later
// ones have no particles and leave the state as it was. One thread.
//
// Bytes: 32. Order-independent.
// Elements: args = all, faulty = 0, emitters = all, clock = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/dispatch.glsl"
#include "pbd/fault.glsl"
#include "pbd/sources.glsl"

layout(scalar, binding = 0) buffer Count { uint count[]; };
layout(scalar, binding = 1) writeonly buffer Args { uvec3 args[]; };
layout(scalar, binding = 2) buffer Clock { StepClock clock[]; };
layout(scalar, binding = 3) readonly buffer Emitters { Emitter emitters[]; };
layout(scalar, binding = 4) buffer Counts { Emission emission[]; };
layout(scalar, binding = 5) buffer Faulty { uint faulty[]; };
layout(scalar, push_constant) uniform Params {
    uint capacity;
    uint max_groups_x;
};

void main() {
    if (thread_idx() != 0u) return;
    StepClock now = clock[0];
    if (is_frozen(now)) return;
    uint n_new = 0u;
    [[dont_unroll]] for (uint e = 0u; e < emitters.length(); ++e) {
        float moved_layers;
        if (begins_layer(emitters[e], now.step, moved_layers)) n_new += emitters[e].n_points;
    }
    if (n_new == 0u) return;
    uint n = count[0] + n_new;
    if (n_new > capacity - count[0]) {
        faulty[fault_slot(FAULT_FULL, 0u)] = 0u;
        clock[0].is_held = 1u;
        emission[0].n_held = count[0];
        emission[0].n_required = n;
        n = 0u;
    } else {
        emission[0].next_id += n_new;
        emission[0].n_emitted += n_new;
    }
    count[0] = n;
    [[dont_unroll]] for (uint row = 0u; row < 16u; ++row) args[row] = dispatch_of(n, row, max_groups_x);
}
