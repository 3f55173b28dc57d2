#version 460
// A plane with a grid of known cell size, which shows scale and depth: six vertices, no buffers.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/ground.glsl"

layout(location = 0) out vec2 in_plane;

void main() {
    in_plane = extent * quad_corner(uint(gl_VertexIndex));
    gl_Position = clip_position(view, origin + in_plane.x * across + in_plane.y * along - view.eye);
}
