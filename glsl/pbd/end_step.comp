#version 460
// Ends a step: records its fault if it is the first one, of the kinds that were found the first in the order
// of fault.glsl, and of these the particle with the lowest index, in the first phase that has one. After a
// fault, the counts of particles are 0, so that the passes of later steps have no threads.
//
// One thread. Bytes: 8 without a fault. Order-independent.
// Elements: clock = 0, faulty = all, args = 0, second_args = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/dispatch.glsl"
#include "common/clock.glsl"
#include "pbd/fault.glsl"

// 1 if there are two phases; else the buffers of the second one are not used.
layout(constant_id = 1) const uint HAS_SECOND_PHASE = 0;

layout(scalar, binding = 0) readonly buffer Faulty { uint faulty[]; };
layout(scalar, binding = 1) readonly buffer Id { uint id[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) readonly buffer Density { float density[]; };
layout(scalar, binding = 5) writeonly buffer Count { uint count[]; };
layout(scalar, binding = 6) writeonly buffer Args { uvec3 args[]; };
layout(scalar, binding = 7) readonly buffer SecondId { uint second_id[]; };
layout(scalar, binding = 8) readonly buffer SecondPosition { vec3 second_position[]; };
layout(scalar, binding = 9) readonly buffer SecondVelocity { vec3 second_velocity[]; };
layout(scalar, binding = 10) readonly buffer SecondDensity { float second_density[]; };
layout(scalar, binding = 11) writeonly buffer SecondCount { uint second_count[]; };
layout(scalar, binding = 12) writeonly buffer SecondArgs { uvec3 second_args[]; };
layout(scalar, binding = 13) writeonly buffer Fault { PbdFault fault[]; };
layout(scalar, binding = 14) buffer Clock { StepClock clock[]; };

void main() {
    if (thread_idx() != 0u) return;
    if (clock[0].fault_step != INVALID_INDEX) return;
    [[dont_unroll]] for (uint kind = 0u; kind < FAULT_KINDS; ++kind) {
        [[dont_unroll]] for (uint phase = 0u; phase <= HAS_SECOND_PHASE; ++phase) {
            uint i = faulty[fault_slot(kind, phase)];
            if (i == INVALID_INDEX) continue;
            float fastest_m_s = uintBitsToFloat(faulty[fastest_slot(phase)]);
            if (phase == 0u)
                fault[0] = PbdFault(kind, phase, id[i], position[i], velocity[i], density[i], fastest_m_s);
            else
                fault[0] = PbdFault(kind, phase, second_id[i], second_position[i], second_velocity[i],
                                    second_density[i], fastest_m_s);
            clock[0].fault_step = clock[0].step;
            count[0] = 0u;
            [[dont_unroll]] for (uint row = 0u; row < 16u; ++row) args[row] = dispatch_of(0u, row, 1u);
            if (HAS_SECOND_PHASE != 0u) {
                second_count[0] = 0u;
                [[dont_unroll]] for (uint row = 0u; row < 16u; ++row)
                    second_args[row] = dispatch_of(0u, row, 1u);
            }
            return;
        }
    }
}
