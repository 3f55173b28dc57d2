#version 460
// Particles as sphere imposters, coloured by a column through a colour map.
//
// Six vertices per particle make a quad that just covers its sphere; particles past count[0] make none, so
// the draw needs no count from the host. The column is read as raw words:
// - COLUMN_F32: one word of an element minus an origin;
// - COLUMN_VEC3: the magnitude of three;
// - COLUMN_U32: a word as an integer;
// - COLUMN_NONE: none, and all particles have one colour.
//
// A value that is not finite is drawn in magenta, and a sphere of less than a pixel with that radius: smaller
// ones would flicker or be missed.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/imposter.glsl"
#include "render/shade.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Positions { vec3 positions[]; };
layout(scalar, binding = 2) readonly buffer Column { uint column[]; };
layout(scalar, binding = 3) readonly buffer ColorMap { vec3 color_map[]; };
layout(scalar, binding = 4) readonly buffer Radii { float radii[]; };
#include "render/particles.glsl"

layout(location = 0) out vec3 ray;
layout(location = 1) flat out vec3 center;
layout(location = 2) flat out vec3 color;
layout(location = 3) flat out float sphere_radius;

// Kinds of the words of `column`.
const uint COLUMN_F32 = 0u;
const uint COLUMN_VEC3 = 1u;
const uint COLUMN_U32 = 2u;
const uint COLUMN_NONE = 3u;

float value(uint particle_idx) {
    uint word = column_stride * particle_idx + column_index;
    if (column_kind == COLUMN_F32) return uintBitsToFloat(column[word]) - coloring.z;
    if (column_kind == COLUMN_U32) return float(column[word]);
    return length(vec3(
        uintBitsToFloat(column[word]), uintBitsToFloat(column[word + 1u]),
        uintBitsToFloat(column[word + 2u])));
}

vec3 mapped(float x) {
    if (isnan(x) || isinf(x)) return vec3(1.0, 0.0, 1.0);
    float lo = coloring.x, hi = coloring.y;
    // An empty range has one colour: the middle.
    float t = hi > lo ? clamp((x - lo) / (hi - lo), 0.0, 1.0) : 0.5;
    float at = t * float(color_map.length() - 1);
    uint i = min(uint(at), uint(color_map.length()) - 2u);
    return mix(color_map[i], color_map[i + 1u], at - float(i));
}

void main() {
    uint particle_idx = uint(gl_VertexIndex) / 6u;
    gl_Position = NOWHERE;
    ray = vec3(0.0);
    center = vec3(0.0);
    color = vec3(0.0);
    sphere_radius = 0.0;
    if (particle_idx >= count[0]) return;
    float along_clip = positions[particle_idx][min(shading >> 24u, 2u)];
    if (along_clip < clip_range.x || along_clip > clip_range.y) return;
    center = positions[particle_idx] - view.eye;
    bool has_radii = ((shading >> 16u) & 0xffu) != 0u;
    sphere_radius = has_radii ? radius * radii[particle_idx] : radius;
    sphere_radius =
        max(sphere_radius, min_radius * (has_perspective(view) ? dot(center, view.forward) : 1.0));
    if (!imposter_visible(view, center, sphere_radius)) return;
    ray = imposter_corner(view, center, sphere_radius, quad_corner(uint(gl_VertexIndex) % 6u));
    color = column_kind == COLUMN_NONE ? coloring : mapped(value(particle_idx));
    gl_Position = clip_position(view, ray);
}
