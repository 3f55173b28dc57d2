#version 460
// Decides whether the contact lists are built in this step: if something has moved by half of the skin since
// they were, or the host says so. The passes that build them are dispatched by counts, which are 0 otherwise:
// of grains, of grains and one, and of cells and one. If a step has failed, its lists are kept.
//
// This pass also advances the clock.
//
// Bytes: none a grain. Order-independent.
// Elements: clock = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"
#include "dem/lists.glsl"
#include "primitives/dispatch.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) buffer Clock { StepClock clock[]; };
layout(scalar, binding = 2) buffer Lists { DemLists lists[]; };
layout(scalar, binding = 3) writeonly buffer GrainCount { uint grain_count[]; };
layout(scalar, binding = 4) writeonly buffer GrainArgs { uvec3 grain_args[]; };
layout(scalar, binding = 5) writeonly buffer EndCount { uint end_count[]; };
layout(scalar, binding = 6) writeonly buffer EndArgs { uvec3 end_args[]; };
layout(scalar, binding = 7) writeonly buffer CellCount { uint cell_count[]; };
layout(scalar, binding = 8) writeonly buffer CellArgs { uvec3 cell_args[]; };
layout(scalar, binding = 9) writeonly buffer AgainCount { uint again_count[]; };
layout(scalar, binding = 10) writeonly buffer AgainArgs { uvec3 again_args[]; };
layout(scalar, binding = 11) writeonly buffer AgainEndCount { uint again_end_count[]; };
layout(scalar, binding = 12) writeonly buffer AgainEndArgs { uvec3 again_end_args[]; };
layout(scalar, push_constant) uniform Params {
    // 1 to build lists in any case.
    uint is_forced;
    // Number of substeps, if a step begins.
    uint n_substeps;
    // Number of cells and one.
    uint n_starts;
    uint max_groups_x;
};

// One workgroup.
void main() {
    uint row = gl_LocalInvocationIndex;
    StepClock now = clock[0];
    advance(now, n_substeps);
    bool is_built = (is_forced != 0u || lists[0].is_stale != 0u) && now.fault_step >= now.step &&
        now.held_at == 0u;
    barrier();
    uint n = is_built ? count[0] : 0u;
    uint n_ends = is_built ? count[0] + 1u : 0u;
    uint n_cells = is_built ? n_starts : 0u;
    if (row < 16u) {
        grain_args[row] = dispatch_of(n, row, max_groups_x);
        end_args[row] = dispatch_of(n_ends, row, max_groups_x);
        cell_args[row] = dispatch_of(n_cells, row, max_groups_x);
        again_args[row] = dispatch_of(0u, row, max_groups_x);
        again_end_args[row] = dispatch_of(0u, row, max_groups_x);
    }
    if (row != 0u) return;
    clock[0] = now;
    grain_count[0] = n;
    end_count[0] = n_ends;
    cell_count[0] = n_cells;
    again_count[0] = 0u;
    again_end_count[0] = 0u;
    if (!is_built) return;
    lists[0].is_stale = 0u;
    ++lists[0].n_built;
}
