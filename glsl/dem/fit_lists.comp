#version 460
// Compares the number of rows that contact lists with a skin need with their capacity. If they do not fit,
// these are built without a skin, by passes that are dispatched by counts, 0 otherwise, and later ones with
// a smaller skin: a skin never makes a step fail.
//
// Bytes: none a grain. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "dem/lists.glsl"
#include "primitives/dispatch.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 2) buffer Lists { DemLists lists[]; };
layout(scalar, binding = 3) writeonly buffer AgainCount { uint again_count[]; };
layout(scalar, binding = 4) writeonly buffer AgainArgs { uvec3 again_args[]; };
layout(scalar, binding = 5) writeonly buffer AgainEndCount { uint again_end_count[]; };
layout(scalar, binding = 6) writeonly buffer AgainEndArgs { uvec3 again_end_args[]; };
layout(scalar, push_constant) uniform Params {
    uint capacity;
    uint max_groups_x;
};

// Lists last as long as their skin is wide: in small steps, the first that fits is close to the widest.
const float SMALLER_SKIN = 0.75;

// One workgroup at least, of which the first decides.
void main() {
    uint row = thread_idx();
    bool fits = first_row[count[0]] <= capacity;
    uint n = fits ? 0u : count[0];
    uint n_ends = fits ? 0u : count[0] + 1u;
    if (row < 16u) {
        again_args[row] = dispatch_of(n, row, max_groups_x);
        again_end_args[row] = dispatch_of(n_ends, row, max_groups_x);
    }
    if (row != 0u) return;
    again_count[0] = n;
    again_end_count[0] = n_ends;
    lists[0].used_skin_m = fits ? lists[0].skin_m : 0.0;
    if (!fits) lists[0].skin_m *= SMALLER_SKIN;
}
