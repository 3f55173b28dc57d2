#version 460
// Sums m a·b over the nodes of each active block. Bytes: 40 a node. Sums in a fixed order.
// Elements: momentum = threads * BLOCK_NODES, a = threads * BLOCK_NODES, b = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BLOCK_NODES = 64;
#include "mpm/solve.glsl"

layout(scalar, binding = 0) readonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 1) readonly buffer Momentum { vec4 momentum[]; };
layout(scalar, binding = 2) readonly buffer A { vec3 a[]; };
layout(scalar, binding = 3) readonly buffer B { vec3 b[]; };
layout(scalar, binding = 4) readonly buffer Solve { MpmSolve solve[]; };
layout(scalar, binding = 5) writeonly buffer Sums { float sums[]; };

void main() {
    uint block = thread_idx();
    if (block >= active_count[0] || solve[0].is_done != 0u) return;
    float sum = 0.0;
    for (uint n = block * BLOCK_NODES; n < (block + 1u) * BLOCK_NODES; ++n)
        sum += momentum[n].w * dot(a[n], b[n]);
    sums[block] = sum;
}
