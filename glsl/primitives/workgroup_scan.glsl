// Exclusive scan of one u32 per thread over the workgroup, in shared memory: log2(WORKGROUP_SIZE) rounds of
// doubling, without subgroup operations, so it is the same with any subgroup size.

shared uint scan_lanes_[2][WORKGROUP_SIZE];

// Returns (sum of the values of lower threads, sum of all). To be called in uniform control flow.
uvec2 workgroup_exclusive_scan(uint value) {
    uint lane = gl_LocalInvocationIndex;
    uint front = 0u;
    scan_lanes_[0][lane] = value;
    barrier();
    for (uint reach = 1u; reach < WORKGROUP_SIZE; reach *= 2u) {
        uint own = scan_lanes_[front][lane];
        if (lane >= reach) own += scan_lanes_[front][lane - reach];
        front = 1u - front;
        scan_lanes_[front][lane] = own;
        barrier();
    }
    uvec2 result = uvec2(scan_lanes_[front][lane] - value, scan_lanes_[front][WORKGROUP_SIZE - 1u]);
    // The next call overwrites the data that this one has just read.
    barrier();
    return result;
}
