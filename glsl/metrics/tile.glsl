// Reduces the records of the particles of one tile per workgroup: the first level of the reduction.
//
// A thread takes ITEMS_PER_THREAD particles WORKGROUP_SIZE apart (coalesced), then the group merges as a
// tree. Needs the constant ITEMS_PER_THREAD, the buffers `count` and `parts` of METRICS_RECORD, and the
// function measure_particle.
#ifndef METRICS_TILE
#define METRICS_TILE

// Measures one particle; for a particle that is not finite only their count is set, so that the other columns
// stay finite.
METRICS_RECORD measure_particle(uint i);

shared METRICS_RECORD tree[WORKGROUP_SIZE];

// Reduces a tile. To be called by all threads of all groups.
void measure_tile() {
    uint n = count[0];
    uint lane = gl_LocalInvocationIndex;
    uint begin = group_idx() * WORKGROUP_SIZE * ITEMS_PER_THREAD + lane;
    METRICS_RECORD own = empty_record();
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = begin + item * WORKGROUP_SIZE;
        if (i < n) own = merged(own, measure_particle(i));
    }
    tree[lane] = own;
    for (uint stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        barrier();
        if (lane < stride) tree[lane] = merged(tree[lane], tree[lane + stride]);
    }
    // A folded dispatch may hold groups past the last tile.
    if (lane == 0u && group_idx() < parts.length()) parts[group_idx()] = tree[0];
}

#endif
