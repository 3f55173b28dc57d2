// Body of both kernels that scan by look-back. The including shader declares the buffers and `extent`, and
// includes a scan over the workgroup before: workgroup_scan.glsl or subgroup_scan.glsl.
#include "primitives/look_back.glsl"
#include "primitives/scan_tile.glsl"

uint tile_sum(uint tile) {
    uint n = length_of(extent, count[0]);
    uint own = 0u;
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = tile * TILE + item * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (i < n) own += element(values[i]);
    }
    return workgroup_exclusive_scan(own).y;
}

void main() {
    uint n = length_of(extent, count[0]);
    uint tile = take_ticket(0u);
    uint begin = tile * TILE;
    // The whole group returns together: a folded dispatch may hold groups past the last tile.
    if (begin >= n && n > 0u) return;
    uvec2 before_and_all = load_tile(begin, n);
    store_tile(begin, n, sum_before_tile(tile, before_and_all.y) + before_and_all.x);
    if (n == 0u && tile == 0u && gl_LocalInvocationIndex == 0u) total[0] = 0u;
}
