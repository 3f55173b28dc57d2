// Arrays of consecutive segments, some of them empty: segment s is elements segment_start[s] …
// segment_start[s + 1] − 1.
//
// The including shader declares the buffers `count`, of segments, and `segment_start`, with one more entry
// than there are segments.

uint element_count() { return count[0] == 0u ? 0u : segment_start[count[0]]; }

// Returns the segment that holds element i: the last one that begins at or before it.
uint segment_of(uint i) {
    uint low = 0u;
    uint high = count[0];
    while (high - low > 1u) {
        uint middle = low + (high - low) / 2u;
        if (segment_start[middle] <= i) low = middle;
        else high = middle;
    }
    return low;
}
