// Segmented reduction of one tile. A group takes a tile regardless of its segments, so a single long segment
// and a million segments of one element cost the same.
//
// A segment within the tile is reduced here. For others, head_partial is the part in the tile of a segment
// that began in an earlier tile, and tail_partial that of one that begins here and continues; the finishing
// pass adds these up.
//
// A thread walks ITEMS_PER_THREAD consecutive elements, a segmented scan of (a segment began, sum since) over
// the group gives it the sum before them, and it walks them again. The order of operations depends on
// positions, group size and items per thread alone.
//
// The including shader defines ELEMENT, and `ELEMENT combine(ELEMENT a, ELEMENT b)`.

const uint TILE = WORKGROUP_SIZE * ITEMS_PER_THREAD;

shared ELEMENT tile_values[TILE + TILE / 32u];
shared bool scan_began[2][WORKGROUP_SIZE];
shared ELEMENT scan_value[2][WORKGROUP_SIZE];

uint slot(uint place) { return place + place / 32u; }

void main() {
    uint n = element_count();
    uint lane = gl_LocalInvocationIndex;
    uint begin = group_idx() * TILE;
    // The whole group returns together.
    if (begin >= n) return;
    for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        if (begin + place < n) tile_values[slot(place)] = values[begin + place];
    }
    barrier();

    uint first = begin + lane * ITEMS_PER_THREAD;
    uint last = min(first + ITEMS_PER_THREAD, n);
    uint first_segment = first < n ? segment_of(first) : 0u;
    uint segment = first_segment;
    bool began = false;
    ELEMENT value = neutral;
    [[dont_unroll]] for (uint i = first; i < last; ++i) {
        if (i == segment_start[segment]) {
            began = true;
            value = neutral;
        }
        value = combine(value, tile_values[slot(i - begin)]);
        if (i + 1u == segment_start[segment + 1u] && i + 1u < last) segment = segment_of(i + 1u);
    }
    uint front = 0u;
    scan_began[0][lane] = began;
    scan_value[0][lane] = value;
    barrier();
    for (uint reach = 1u; reach < WORKGROUP_SIZE; reach *= 2u) {
        began = scan_began[front][lane];
        value = scan_value[front][lane];
        if (lane >= reach) {
            if (!began) value = combine(scan_value[front][lane - reach], value);
            began = began || scan_began[front][lane - reach];
        }
        front = 1u - front;
        scan_began[front][lane] = began;
        scan_value[front][lane] = value;
        barrier();
    }
    began = lane > 0u && scan_began[front][lane - 1u];
    value = lane > 0u ? scan_value[front][lane - 1u] : neutral;

    uint end = min(begin + TILE, n);
    segment = first_segment;
    [[dont_unroll]] for (uint i = first; i < last; ++i) {
        if (i == segment_start[segment]) {
            began = true;
            value = neutral;
        }
        value = combine(value, tile_values[slot(i - begin)]);
        if (i + 1u == segment_start[segment + 1u]) {
            if (began) reduced[segment] = value;
            else head_partial[group_idx()] = value;
            if (i + 1u < last) segment = segment_of(i + 1u);
        } else if (i + 1u == end) {
            if (began) tail_partial[group_idx()] = value;
            else head_partial[group_idx()] = value;
        }
    }
}
