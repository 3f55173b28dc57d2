#version 460
// Clears the nodes to which particles will add: WORDS words for each node of the active blocks. Bytes: 4 ·
// WORDS a node. Order-independent.
// Elements: nodes = threads * THREADS_PER_ITEM * WORDS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
layout(constant_id = 2) const uint WORDS = 4;

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) writeonly buffer Nodes { uint nodes[]; };

void main() {
    uint a = thread_idx() / THREADS_PER_ITEM;
    if (a >= active_count[0]) return;
    for (uint word = 0u; word < WORDS; ++word) {
        // Neighbouring threads clear neighbouring words.
        nodes[(a * WORDS + word) * THREADS_PER_ITEM + thread_idx() % THREADS_PER_ITEM] = 0u;
    }
}
