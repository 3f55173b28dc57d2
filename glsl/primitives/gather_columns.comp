#version 460
// Moves up to seven columns of particles to a new order in one pass: moved[i] = column[order[i]], for i below
// count[0].
//
// An element of column k is WORDS_k 32-bit words; with WORDS_k = 0 there is no such column. Elements of
// columns 0 and 1 are TRIPLES_k vectors of three words, each a single access. Writes are coalesced; reads are
// as scattered as the order, which is nearly the identity when particles move less than a cell a step. Bytes:
// 4 + 24 (TRIPLES_0 + TRIPLES_1) + 8 (WORDS_2 + … + WORDS_6) a particle. Order-independent.
// Elements: column0 = threads * TRIPLES_0, moved0 = threads * TRIPLES_0.
// Elements: column1 = threads * TRIPLES_1, moved1 = threads * TRIPLES_1.
// Elements: column2 = threads * WORDS_2, moved2 = threads * WORDS_2.
// Elements: column3 = threads * WORDS_3, moved3 = threads * WORDS_3.
// Elements: column4 = threads * WORDS_4, moved4 = threads * WORDS_4.
// Elements: column5 = threads * WORDS_5, moved5 = threads * WORDS_5.
// Elements: column6 = threads * WORDS_6, moved6 = threads * WORDS_6.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(constant_id = 1) const uint TRIPLES_0 = 1;
layout(constant_id = 2) const uint TRIPLES_1 = 1;
layout(constant_id = 3) const uint WORDS_2 = 1;
layout(constant_id = 4) const uint WORDS_3 = 1;
layout(constant_id = 5) const uint WORDS_4 = 1;
layout(constant_id = 6) const uint WORDS_5 = 1;
layout(constant_id = 7) const uint WORDS_6 = 1;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Order { uint order[]; };
layout(scalar, binding = 2) readonly buffer Column0 { uvec3 column0[]; };
layout(scalar, binding = 3) readonly buffer Column1 { uvec3 column1[]; };
layout(scalar, binding = 4) readonly buffer Column2 { uint column2[]; };
layout(scalar, binding = 5) readonly buffer Column3 { uint column3[]; };
layout(scalar, binding = 6) readonly buffer Column4 { uint column4[]; };
layout(scalar, binding = 7) readonly buffer Column5 { uint column5[]; };
layout(scalar, binding = 8) readonly buffer Column6 { uint column6[]; };
layout(scalar, binding = 9) writeonly buffer Moved0 { uvec3 moved0[]; };
layout(scalar, binding = 10) writeonly buffer Moved1 { uvec3 moved1[]; };
layout(scalar, binding = 11) writeonly buffer Moved2 { uint moved2[]; };
layout(scalar, binding = 12) writeonly buffer Moved3 { uint moved3[]; };
layout(scalar, binding = 13) writeonly buffer Moved4 { uint moved4[]; };
layout(scalar, binding = 14) writeonly buffer Moved5 { uint moved5[]; };
layout(scalar, binding = 15) writeonly buffer Moved6 { uint moved6[]; };

#define MOVE(k, n)                                       \
    [[unroll]] for (uint w = 0u; w < n; ++w)             \
        moved##k[n * i + w] = column##k[n * from + w];

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint from = order[i];
    MOVE(0, TRIPLES_0)
    MOVE(1, TRIPLES_1)
    MOVE(2, WORDS_2)
    MOVE(3, WORDS_3)
    MOVE(4, WORDS_4)
    MOVE(5, WORDS_5)
    MOVE(6, WORDS_6)
}
