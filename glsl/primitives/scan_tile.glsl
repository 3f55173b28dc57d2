// Scan of one tile, for kernels that know or compute the sum before it.
//
// With STAGED elements pass through shared memory, so that global reads and writes are coalesced although a
// thread scans consecutive ones; one word in 33 is left out, so that the threads' strides fall on different
// banks. Without, each thread reads its elements twice and writes them where they are: half the accesses
// where coalescing has no effect, on a CPU. The including shader declares the buffers `values`, `scanned` and
// `total`.

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;
// 1: scanned[i] includes values[i].
layout(constant_id = 2) const uint INCLUSIVE = 0;

// 0: without shared memory.
layout(constant_id = 7) const uint STAGED = 1;

const uint TILE = WORKGROUP_SIZE * ITEMS_PER_THREAD;

shared uint tile_elements_[TILE + TILE / 32u];

uint slot_(uint place) { return place + place / 32u; }

// Loads the tile that begins at `begin`; returns (sum of the tile's elements before this thread's, sum of
// all).
uvec2 load_tile(uint begin, uint n) {
    uint lane = gl_LocalInvocationIndex;
    if (STAGED == 0u) {
        uint sum = 0u;
        uint first = begin + lane * ITEMS_PER_THREAD;
        [[dont_unroll]] for (uint i = first; i < min(first + ITEMS_PER_THREAD, n); ++i) {
            sum += element(values[i]);
        }
        return workgroup_exclusive_scan(sum);
    }
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        tile_elements_[slot_(place)] = begin + place < n ? element(values[begin + place]) : 0u;
    }
    barrier();
    uint own = 0u;
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item)
        own += tile_elements_[slot_(lane * ITEMS_PER_THREAD + item)];
    return workgroup_exclusive_scan(own);
}

// Stores the tile's scan; `before` is the sum of everything before this thread's elements.
void store_tile(uint begin, uint n, uint before) {
    uint lane = gl_LocalInvocationIndex;
    if (STAGED == 0u) {
        uint first = begin + lane * ITEMS_PER_THREAD;
        [[dont_unroll]] for (uint i = first; i < min(first + ITEMS_PER_THREAD, n); ++i) {
            uint value = element(values[i]);
            scanned[i] = INCLUSIVE != 0u ? before + value : before;
            before += value;
            if (i + 1u == n) total[0] = before;
        }
        return;
    }
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = lane * ITEMS_PER_THREAD + item;
        uint value = tile_elements_[slot_(place)];
        tile_elements_[slot_(place)] = INCLUSIVE != 0u ? before + value : before;
        before += value;
        if (begin + place + 1u == n) total[0] = before;
    }
    barrier();
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        if (begin + place < n) scanned[begin + place] = tile_elements_[slot_(place)];
    }
}
