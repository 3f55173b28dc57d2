#version 460
// Ends a step whose contact lists do not fit their capacity, even without a skin: records the fault with the
// required number of rows, and sets the counts to 0 by which lists are written, and grains and contacts
// stored. The stored columns, which this step has updated before it built lists, stay those before the step.
//
// Dispatched by the count of grains whose lists are built again, which is 0 if lists fit with their skin.
// Bytes: none a grain. Order-independent.
// Elements: clock = 0, fault = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "common/clock.glsl"
#include "dem/fault.glsl"
#include "primitives/dispatch.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 2) buffer Fault { DemFault fault[]; };
layout(scalar, binding = 3) writeonly buffer GrainCount { uint grain_count[]; };
layout(scalar, binding = 4) writeonly buffer GrainArgs { uvec3 grain_args[]; };
layout(scalar, binding = 5) writeonly buffer StoredCount { uint stored_count[]; };
layout(scalar, binding = 6) writeonly buffer StoredArgs { uvec3 stored_args[]; };
layout(scalar, binding = 7) writeonly buffer StoredEndCount { uint stored_end_count[]; };
layout(scalar, binding = 8) writeonly buffer StoredEndArgs { uvec3 stored_end_args[]; };
layout(scalar, binding = 9) buffer Clock { StepClock clock[]; };
layout(scalar, push_constant) uniform Params {
    uint capacity;
    uint max_groups_x;
};

// One workgroup at least, of which the first decides.
void main() {
    uint row = thread_idx();
    uint required = first_row[count[0]];
    if (required <= capacity) return;
    if (row < 16u) {
        grain_args[row] = dispatch_of(0u, row, max_groups_x);
        stored_args[row] = dispatch_of(0u, row, max_groups_x);
        stored_end_args[row] = dispatch_of(0u, row, max_groups_x);
    }
    if (row != 0u) return;
    grain_count[0] = 0u;
    stored_count[0] = 0u;
    stored_end_count[0] = 0u;
    clock[0].fault_step = clock[0].step;
    HOLD_SUBSTEP();
    fault[0].n_rows = required;
}
