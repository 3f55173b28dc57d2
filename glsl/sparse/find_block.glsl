// Finds blocks in the ascending list `occupied`, of which there are `occupied_count[0]`: buffers of the
// kernel that includes this.
#include "sparse/blocks.glsl"

// Returns the index of a block in the list, or INVALID_INDEX.
uint find_block(uint number) {
    uint begin = 0u;
    uint end = occupied_count[0];
    // Bound: log2 of the number of blocks.
    while (begin < end) {
        uint middle = (begin + end) / 2u;
        if (occupied[middle] < number) begin = middle + 1u;
        else end = middle;
    }
    return begin < occupied_count[0] && occupied[begin] == number ? begin : INVALID_INDEX;
}

#include "sparse/reach.glsl"
