#version 460
// Writes the output columns of pieces: their centres, and the rotation since the initial state both as a
// quaternion and as a rotation vector, whose length is the angle. Bytes: 64 a piece read, 52 written.
// Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "dem/piece.glsl"

layout(scalar, binding = 0) readonly buffer Motions { PieceMotion motions[]; };
layout(scalar, binding = 1) writeonly buffer Centre { vec3 centre_m[]; };
layout(scalar, binding = 2) writeonly buffer Rotation { vec4 rotation[]; };
layout(scalar, binding = 3) writeonly buffer Turn { vec3 turn[]; };
layout(scalar, binding = 4) writeonly buffer Velocity { vec3 velocity_m_s[]; };
layout(scalar, push_constant) uniform Params { uint n_pieces; };

void main() {
    uint i = thread_idx();
    if (i >= n_pieces) return;
    PieceMotion motion = motions[i];
    centre_m[i] = motion.centre_m;
    rotation[i] = motion.rotation;
    turn[i] = rotation_vector(motion.rotation);
    velocity_m_s[i] = motion.velocity_m_s;
}
