#version 460
// Triangles with a normal at each vertex, such as the surface of snow: three vertices per triangle, fetched
// by its indices.
//
// Triangles past count[0] are not drawn, so that the draw needs no count from the host.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/mesh.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Triangle { uvec3 triangle[]; };
layout(scalar, binding = 2) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 3) readonly buffer Normal { vec3 normal[]; };

layout(location = 0) out vec3 from_eye;
layout(location = 1) out vec3 outwards;
layout(location = 2) out vec3 at;

void main() {
    uint triangle_idx = uint(gl_VertexIndex) / 3u;
    gl_Position = NOWHERE;
    from_eye = vec3(0.0);
    outwards = vec3(0.0);
    at = vec3(0.0);
    if (triangle_idx >= count[0]) return;
    uint vertex = triangle[triangle_idx][uint(gl_VertexIndex) % 3u];
    at = position[vertex];
    from_eye = at - view.eye;
    outwards = normal[vertex];
    gl_Position = clip_position(view, from_eye);
}
