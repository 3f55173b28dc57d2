// Returns the dispatch arguments for n elements in tiles of 2^row, folded over x and y.
uvec3 dispatch_of(uint n, uint row, uint max_groups_x) {
    uint groups = (n >> row) + ((n & ((1u << row) - 1u)) != 0u ? 1u : 0u);
    // An empty dispatch keeps y = 1: zero groups in x already make it empty, and y is never a divisor of 0.
    uint rows = groups == 0u ? 1u : (groups - 1u) / max_groups_x + 1u;
    return uvec3(rows == 1u ? groups : max_groups_x, rows, 1u);
}
