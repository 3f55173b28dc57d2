// Exclusive scan of one u32 per thread over the workgroup by operations of subgroups, in place of
// workgroup_scan.glsl: one barrier instead of log2(WORKGROUP_SIZE) + 2, with the same bits, since the sums
// are of integers.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

// Threads of a subgroup: the pipeline requires this size, and full subgroups.
layout(constant_id = 6) const uint SUBGROUP_SIZE = 32;

const uint SUBGROUPS = WORKGROUP_SIZE / SUBGROUP_SIZE;

shared uint subgroup_sums_[SUBGROUPS];

// Returns (sum of the values of lower threads, sum of all). To be called in uniform control flow; a second
// call needs a barrier in between.
uvec2 workgroup_exclusive_scan(uint value) {
    uint sum = subgroupInclusiveAdd(value);
    if (gl_SubgroupInvocationID == SUBGROUP_SIZE - 1u) subgroup_sums_[gl_SubgroupID] = sum;
    barrier();
    uint before = 0u;
    uint all = 0u;
    [[dont_unroll]] for (uint s = 0u; s < SUBGROUPS; ++s) {
        if (s == gl_SubgroupID) before = all;
        all += subgroup_sums_[s];
    }
    return uvec2(before + sum - value, all);
}
