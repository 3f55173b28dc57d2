#version 460
// Merges the records of all tiles, the second level of their reduction, with one workgroup per column. A
// record is a sequence of words: sums of floats come first, then minima, maxima and counts of integers.
//
// Bytes: 4 a word of each part. Order-dependent sums in a fixed order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

struct RecordColumns {
    uint first_minimum;
    uint first_maximum;
    uint first_count;
    uint end;
};

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Parts { uint parts[]; };
layout(scalar, binding = 2) writeonly buffer Total { uint total[]; };
layout(scalar, push_constant) uniform Params {
    uint particles_per_part;
    RecordColumns columns;
};

shared uint tree[WORKGROUP_SIZE];

const float HUGE = 3.0e38;

uint empty_word(uint word) {
    if (word >= columns.first_count) return 0u;
    if (word >= columns.first_maximum) return floatBitsToUint(-HUGE);
    return word >= columns.first_minimum ? floatBitsToUint(HUGE) : 0u;
}

uint merged(uint word, uint a, uint b) {
    if (word >= columns.first_count) return a + b;
    float x = uintBitsToFloat(a);
    float y = uintBitsToFloat(b);
    if (word >= columns.first_maximum) return floatBitsToUint(max(x, y));
    return floatBitsToUint(word >= columns.first_minimum ? min(x, y) : x + y);
}

void main() {
    uint word = group_idx();
    // The whole group returns together: a folded dispatch may hold groups past the last word.
    if (word >= columns.end) return;
    uint n = count[0] / particles_per_part + (count[0] % particles_per_part != 0u ? 1u : 0u);
    uint lane = gl_LocalInvocationIndex;
    uint own = empty_word(word);
    for (uint i = lane; i < n; i += WORKGROUP_SIZE) own = merged(word, own, parts[i * columns.end + word]);
    tree[lane] = own;
    for (uint stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        barrier();
        if (lane < stride) tree[lane] = merged(word, tree[lane], tree[lane + stride]);
    }
    if (lane == 0u) total[word] = tree[0];
}
