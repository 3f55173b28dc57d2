#version 460
// Counts the particles that emit.comp has added. If there is no room for them, none counts, and this step and
// later ones leave the state as it was: with EMPTIES, for steps whose passes do not ask, they have no
// particles, and the step has the fault that is noted in faulty[faulty_slot]; without, it is the first with a
// fault. One thread.
//
// Bytes: 32. Order-independent.
// Elements: args = all, faulty = 0, emitters = all, clock = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/dispatch.glsl"
#include "sources/sources.glsl"

layout(constant_id = 1) const uint EMPTIES = 0;

layout(scalar, binding = 0) buffer Count { uint count[]; };
layout(scalar, binding = 1) writeonly buffer Args { uvec3 args[]; };
layout(scalar, binding = 2) buffer Clock { StepClock clock[]; };
layout(scalar, binding = 3) readonly buffer Emitters { Emitter emitters[]; };
layout(scalar, binding = 4) buffer Counts { Emission emission[]; };
layout(scalar, binding = 5) writeonly buffer Faulty { uint faulty[]; };
layout(scalar, push_constant) uniform Params {
    uint capacity;
    uint faulty_slot;
    uint max_groups_x;
};
#include "sources/new_particles.glsl"

void main() {
    if (thread_idx() != 0u) return;
    StepClock now = clock[0];
    if (is_frozen(now)) return;
    uint n_new = new_particle_count(now.step);
    if (n_new == 0u) return;
    uint n_before = count[0];
    uint n = n_before + n_new;
    if (n_new > capacity - n_before) {
        HOLD_SUBSTEP();
        emission[0].n_held = n_before;
        emission[0].n_required = n;
        if (EMPTIES == 0u) {
            RECORD_FAULT_STEP();
            return;
        }
        faulty[faulty_slot] = 0u;
        n = 0u;
    } else {
        emission[0].last_step = now.step;
        emission[0].next_id += n_new;
        emission[0].n_emitted += n_new;
    }
    count[0] = n;
    [[dont_unroll]] for (uint row = 0u; row < 16u; ++row) args[row] = dispatch_of(n, row, max_groups_x);
}
