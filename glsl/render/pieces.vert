#version 460
// Rigid pieces with flat faces, such as plates of ice: x = c + R v for each corner v of a piece, with its
// centre c and its rotation R given by a unit quaternion (x, y, z, w).
//
// Three corners make a triangle; each has the index of its piece and the normal of its face.
#extension GL_GOOGLE_include_directive : require
#include "common/quaternion.glsl"
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/pieces.glsl"

layout(scalar, binding = 0) readonly buffer Corner { vec3 corner[]; };
layout(scalar, binding = 1) readonly buffer FaceNormal { vec3 face_normal[]; };
layout(scalar, binding = 2) readonly buffer Piece { uint piece[]; };
layout(scalar, binding = 3) readonly buffer Centre { vec3 centre[]; };
layout(scalar, binding = 4) readonly buffer Rotation { vec4 rotation[]; };

layout(location = 0) out vec3 from_eye;
layout(location = 1) flat out vec3 outwards;
layout(location = 2) flat out uint piece_idx;

void main() {
    uint vertex = uint(gl_VertexIndex);
    piece_idx = piece[vertex];
    vec4 q = rotation[piece_idx];
    // The three vertices of a triangle compute one normal.
    outwards = rotate(q, face_normal[vertex / 3u]);
    from_eye = centre[piece_idx] + rotate(q, corner[vertex]) - view.eye;
    gl_Position = clip_position(view, from_eye);
}
