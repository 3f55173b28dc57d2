#version 460
// Finds the largest squared speed of particles after a step, from which the number of substeps of a later one
// follows, and notes the number of its own. Squares are not negative, and are compared by their bits; those
// that are not finite are the largest.
//
// Bytes: 12 a particle. Order-independent.
// Elements: pace = 2.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Velocity { vec3 velocity[]; };
// Bits of the largest square in m²/s², and the number of substeps.
layout(scalar, binding = 2) buffer Pace { uint pace[]; };
layout(scalar, push_constant) uniform Params { uint n_substeps; };

shared uint fastest_of_group;

void main() {
    if (gl_LocalInvocationIndex == 0u) fastest_of_group = 0u;
    barrier();
    uint i = thread_idx();
    if (i < count[0]) {
        vec3 v = velocity[i];
        atomicMax(fastest_of_group, floatBitsToUint(dot(v, v)) & 0x7fffffffu);
    }
    barrier();
    if (gl_LocalInvocationIndex != 0u) return;
    // An older value read here only costs an atomic operation.
    if (fastest_of_group > pace[0]) atomicMax(pace[0], fastest_of_group);
    if (group_idx() == 0u) pace[1] = n_substeps;
}
