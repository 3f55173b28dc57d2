#version 460
// Counts the grains that emit.comp has added: those that there are, that this step lists, and that are
// stored. If there is no room for them, none counts, and the step is the first with a fault. One thread.
//
// Bytes: 48. Order-independent.
// Elements: clock = all, emitters = all, args = all, grain_args = all, end_args = all.
// Elements: stored_args = all, stored_end_args = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/dispatch.glsl"
#include "sources/sources.glsl"

layout(scalar, binding = 0) buffer Count { uint count[]; };
layout(scalar, binding = 1) writeonly buffer Args { uvec3 args[]; };
layout(scalar, binding = 2) buffer Clock { StepClock clock[]; };
layout(scalar, binding = 3) readonly buffer Emitters { Emitter emitters[]; };
layout(scalar, binding = 4) buffer Counts { Emission emission[]; };
layout(scalar, binding = 5) writeonly buffer GrainCount { uint grain_count[]; };
layout(scalar, binding = 6) writeonly buffer GrainArgs { uvec3 grain_args[]; };
layout(scalar, binding = 7) writeonly buffer EndCount { uint end_count[]; };
layout(scalar, binding = 8) writeonly buffer EndArgs { uvec3 end_args[]; };
layout(scalar, binding = 9) writeonly buffer StoredCount { uint stored_count[]; };
layout(scalar, binding = 10) writeonly buffer StoredArgs { uvec3 stored_args[]; };
layout(scalar, binding = 11) writeonly buffer StoredEndCount { uint stored_end_count[]; };
layout(scalar, binding = 12) writeonly buffer StoredEndArgs { uvec3 stored_end_args[]; };
layout(scalar, push_constant) uniform Params {
    uint capacity;
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
        RECORD_FAULT_STEP();
        return;
    }
    emission[0].last_step = now.step;
    emission[0].next_id = n;
    emission[0].n_emitted += n_new;
    count[0] = n;
    grain_count[0] = n;
    stored_count[0] = n;
    end_count[0] = n + 1u;
    stored_end_count[0] = n + 1u;
    [[dont_unroll]] for (uint row = 0u; row < 16u; ++row) {
        uvec3 of_grains = dispatch_of(n, row, max_groups_x);
        uvec3 of_ends = dispatch_of(n + 1u, row, max_groups_x);
        args[row] = of_grains;
        grain_args[row] = of_grains;
        stored_args[row] = of_grains;
        end_args[row] = of_ends;
        stored_end_args[row] = of_ends;
    }
}
