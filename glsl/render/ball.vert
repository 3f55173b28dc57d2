#version 460
// One large sphere, such as a body: six vertices, no buffers.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/imposter.glsl"
#include "render/shade.glsl"
#include "render/ball.glsl"

layout(location = 0) out vec3 ray;

void main() {
    vec3 center = ball_center - view.eye;
    ray = vec3(0.0);
    gl_Position = NOWHERE;
    if (!imposter_visible(view, center, radius)) return;
    ray = imposter_corner(view, center, radius, quad_corner(uint(gl_VertexIndex)));
    gl_Position = clip_position(view, ray);
}
