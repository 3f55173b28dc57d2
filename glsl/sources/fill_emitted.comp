#version 460
// Gives the particles that emit.comp adds their values in up to seven other columns: those of their emitter.
//
// An element of column k is WORDS_k 32-bit words, and initial[first[k] + WORDS_k · e] the first of emitter e;
// with WORDS_k = 0 there is no such column. Bytes: 4 a point, and 4 (WORDS_0 + … + WORDS_6) a particle that
// appears. Order-independent.
// Elements: initial = 0, emitters = all.
// Elements: column0 = 0, column1 = 0.
// Elements: column2 = 0, column3 = 0.
// Elements: column4 = 0, column5 = 0.
// Elements: column6 = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "sources/sources.glsl"

layout(constant_id = 1) const uint WORDS_0 = 1;
layout(constant_id = 2) const uint WORDS_1 = 1;
layout(constant_id = 3) const uint WORDS_2 = 1;
layout(constant_id = 4) const uint WORDS_3 = 1;
layout(constant_id = 5) const uint WORDS_4 = 1;
layout(constant_id = 6) const uint WORDS_5 = 1;
layout(constant_id = 7) const uint WORDS_6 = 1;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 2) readonly buffer Emitters { Emitter emitters[]; };
layout(scalar, binding = 3) readonly buffer Initial { uint initial[]; };
layout(scalar, binding = 4) readonly buffer Counts { Emission emission[]; };
layout(scalar, binding = 5) writeonly buffer Column0 { uint column0[]; };
layout(scalar, binding = 6) writeonly buffer Column1 { uint column1[]; };
layout(scalar, binding = 7) writeonly buffer Column2 { uint column2[]; };
layout(scalar, binding = 8) writeonly buffer Column3 { uint column3[]; };
layout(scalar, binding = 9) writeonly buffer Column4 { uint column4[]; };
layout(scalar, binding = 10) writeonly buffer Column5 { uint column5[]; };
layout(scalar, binding = 11) writeonly buffer Column6 { uint column6[]; };
layout(scalar, push_constant) uniform Params {
    uint n_points;
    uint capacity;
    uint first[7];
};
#include "sources/new_particles.glsl"

#define FILL(k)                                       \
    [[unroll]] for (uint w = 0u; w < WORDS_##k; ++w)  \
        column##k[WORDS_##k * i + w] = initial[first[k] + WORDS_##k * own.emitter + w];

void main() {
    uint p = thread_idx();
    if (p >= n_points) return;
    StepClock now = clock[0];
    if (is_frozen(now)) return;
    NewParticle own = new_particle(p, now.step);
    uint i = count[0] + own.place;
    if (!own.appears || i >= capacity) return;
    FILL(0)
    FILL(1)
    FILL(2)
    FILL(3)
    FILL(4)
    FILL(5)
    FILL(6)
}
