#version 460
// Fills the places of removed particles with the last ones, in up to seven columns: removed[0], removed[1] …
// are the indices of the k removed ones of n, in order. Of those below n − k, the t-th gets the element of
// the t-th particle from n − k on that stays. A thread for each removed particle.
//
// An element of column k is WORDS_k 32-bit words; with WORDS_k = 0 there is no such column. Bytes: 4 and
// 8 (WORDS_0 + … + WORDS_6) a removed particle, at most. Order-independent.
// Elements: column0 = threads * 2 * WORDS_0, column1 = threads * 2 * WORDS_1.
// Elements: column2 = threads * 2 * WORDS_2, column3 = threads * 2 * WORDS_3.
// Elements: column4 = threads * 2 * WORDS_4, column5 = threads * 2 * WORDS_5.
// Elements: column6 = threads * 2 * WORDS_6.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(constant_id = 1) const uint WORDS_0 = 1;
layout(constant_id = 2) const uint WORDS_1 = 1;
layout(constant_id = 3) const uint WORDS_2 = 1;
layout(constant_id = 4) const uint WORDS_3 = 1;
layout(constant_id = 5) const uint WORDS_4 = 1;
layout(constant_id = 6) const uint WORDS_5 = 1;
layout(constant_id = 7) const uint WORDS_6 = 1;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer RemovedCount { uint removed_count[]; };
layout(scalar, binding = 2) readonly buffer Removed { uint removed[]; };
layout(scalar, binding = 3) buffer Column0 { uint column0[]; };
layout(scalar, binding = 4) buffer Column1 { uint column1[]; };
layout(scalar, binding = 5) buffer Column2 { uint column2[]; };
layout(scalar, binding = 6) buffer Column3 { uint column3[]; };
layout(scalar, binding = 7) buffer Column4 { uint column4[]; };
layout(scalar, binding = 8) buffer Column5 { uint column5[]; };
layout(scalar, binding = 9) buffer Column6 { uint column6[]; };

// Returns the number of removed particles below an index.
uint removed_below(uint index, uint k) {
    uvec2 between = uvec2(0u, k);
    // Bound: 32 halvings.
    while (between.x < between.y) {
        uint middle = (between.x + between.y) / 2u;
        if (removed[middle] < index) between.x = middle + 1u;
        else between.y = middle;
    }
    return between.x;
}

// Returns the t-th index from `first` on that is not removed.
uint staying_from(uint first, uint t, uint k) {
    uint n_before = removed_below(first, k);
    uvec2 between = uvec2(first + t, first + k);
    // Bound: 32 halvings.
    while (between.x < between.y) {
        uint middle = (between.x + between.y) / 2u;
        if (middle + 1u - first - (removed_below(middle + 1u, k) - n_before) <= t) between.x = middle + 1u;
        else between.y = middle;
    }
    return between.x;
}

#define MOVE(k)                                       \
    [[unroll]] for (uint w = 0u; w < WORDS_##k; ++w)  \
        column##k[WORDS_##k * to + w] = column##k[WORDS_##k * from + w];

void main() {
    uint t = thread_idx();
    uint k = removed_count[0];
    if (t >= k) return;
    uint n_left = count[0] - k;
    uint to = removed[t];
    if (to >= n_left) return;
    uint from = staying_from(n_left, t, k);
    MOVE(0)
    MOVE(1)
    MOVE(2)
    MOVE(3)
    MOVE(4)
    MOVE(5)
    MOVE(6)
}
