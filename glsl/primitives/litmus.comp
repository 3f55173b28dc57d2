#version 460
// Tests two properties that look-back requires and Vulkan does not guarantee.
//
// - Message passing: group t writes a message, then raises its flag; group t + 1, having seen the flag, must
//   see the message.
// - Forward progress: groups take tickets in the order in which they start, and each waits for the one
//   before; a wait longer than 32 · BOUND polls means that a started group was not scheduled again. The first
//   such wait ends all others, so that a device which fails does not hang.
//
// Inputs: zeroed buffers. Outputs: verdict[0] counts tickets, verdict[1] messages not seen, verdict[2] waits
// given up.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(constant_id = 1) const uint BOUND = 32768;

layout(scalar, binding = 0) coherent buffer Message { uint message[]; };
layout(scalar, binding = 1) coherent buffer Flag { uint flag[]; };
layout(scalar, binding = 2) coherent buffer Verdict { uint verdict[]; };
layout(scalar, push_constant) uniform Params { uint groups; };

shared uint ticket;
shared bool seen;

uint word_of(uint group, uint lane) { return (group * WORKGROUP_SIZE + lane) * 2654435761u + 1u; }

void main() {
    uint lane = gl_LocalInvocationIndex;
    if (lane == 0u) ticket = atomicAdd(verdict[0], 1u);
    barrier();
    uint own = ticket;
    if (own >= groups) return;
    message[own * WORKGROUP_SIZE + lane] = word_of(own, lane);
    memoryBarrierBuffer();
    barrier();
    if (lane == 0u) {
        memoryBarrierBuffer();
        atomicExchange(flag[own], 1u);
        seen = own == 0u;
        // Unrolled, because lavapipe ends every loop of an invocation after 65 535 rounds in all.
        for (uint look = 0u; !seen && look < BOUND; ++look) {
            [[unroll]] for (uint again = 0u; again < 32u; ++again)
                seen = seen || atomicOr(flag[own - 1u], 0u) != 0u;
            if (!seen && (look & 63u) == 63u && atomicOr(verdict[2], 0u) != 0u) break;
        }
        if (!seen) atomicAdd(verdict[2], 1u);
        memoryBarrierBuffer();
    }
    barrier();
    memoryBarrierBuffer();
    if (own == 0u || !seen) return;
    // Word of another lane, so that the message has crossed from one processor to another.
    uint other = WORKGROUP_SIZE - 1u - lane;
    if (message[(own - 1u) * WORKGROUP_SIZE + other] != word_of(own - 1u, other)) atomicAdd(verdict[1], 1u);
}
