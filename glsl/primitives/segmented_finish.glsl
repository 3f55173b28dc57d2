// Reduces segments that span tiles: the group of the tile in which one begins adds up its parts in later
// tiles.
// The including shader defines ELEMENT, and `ELEMENT combine(ELEMENT a, ELEMENT b)`.

shared ELEMENT tree[WORKGROUP_SIZE];

void main() {
    uint n = element_count();
    uint lane = gl_LocalInvocationIndex;
    uint begin = group_idx() * tile_size;
    // The whole group returns together, here and below.
    if (begin >= n) return;
    uint end = min(begin + tile_size, n);
    uint segment = segment_of(end - 1u);
    if (segment_start[segment] < begin || segment_start[segment + 1u] <= end) return;
    uint last_tile = (segment_start[segment + 1u] - 1u) / tile_size;
    ELEMENT own = neutral;
    for (uint tile = group_idx() + 1u + lane; tile <= last_tile; tile += WORKGROUP_SIZE) own = combine(own, head_partial[tile]);
    tree[lane] = own;
    for (uint stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        barrier();
        if (lane < stride) tree[lane] = combine(tree[lane], tree[lane + stride]);
    }
    if (lane == 0u) reduced[segment] = combine(tail_partial[group_idx()], tree[0]);
}
