#version 460
// The twelve edges of a box in any orientation, as smooth lines of constant width: 72 vertices, no buffers.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/wireframe.glsl"

// Distance from the line's middle in pixels.
layout(location = 0) noperspective out float offset;

vec3 box_corner(uint edge, float end) {
    uint axis = edge / 4u;
    vec3 t;
    t[axis] = end;
    t[(axis + 1u) % 3u] = float(edge & 1u);
    t[(axis + 2u) % 3u] = float(edge >> 1u & 1u);
    return corner + t.x * along[0] + t.y * along[1] + t.z * along[2] - view.eye;
}

// Returns `a`, or the point where the segment from `a` to `b` enters the visible side of the near plane.
vec3 clipped(vec3 a, vec3 b) {
    if (!has_perspective(view)) return a;
    float z = dot(a, view.forward), other = dot(b, view.forward), least = 1.01 * view.near;
    return z >= least ? a : mix(a, b, (least - z) / (other - z));
}

void main() {
    uint edge = uint(gl_VertexIndex) / 6u;
    vec2 side = quad_corner(uint(gl_VertexIndex) % 6u);
    vec3 a = box_corner(edge, 0.0), b = box_corner(edge, 1.0);
    offset = 0.0;
    gl_Position = NOWHERE;
    bool is_behind = max(dot(a, view.forward), dot(b, view.forward)) <= 1.01 * view.near;
    if (has_perspective(view) && is_behind) return;
    vec4 from = clip_position(view, clipped(a, b)), to = clip_position(view, clipped(b, a));
    vec2 direction = (to.xy / to.w - from.xy / from.w) * image_size;
    if (dot(direction, direction) == 0.0) return;
    direction = normalize(direction);
    // One more pixel on each side for the soft edge.
    offset = side.y * (0.5 * line_width + 1.0);
    vec4 at = side.x < 0.0 ? from : to;
    at.xy += 2.0 * offset * vec2(-direction.y, direction.x) / image_size * at.w;
    // Slightly nearer, so that edges in the plane of the ground are in front of it.
    at.z = has_perspective(view) ? 1.004 * at.z : at.z + 1e-5;
    gl_Position = at;
}
