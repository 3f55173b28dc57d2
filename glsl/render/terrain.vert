#version 460
// A chunk of a terrain: 32 × 32 quads over every stride-th height of a grid, two triangles each, both split
// from lower to higher x and y.
//
// At an edge to a neighbour whose quads are twice as large, every second vertex moves to the one before it:
// both sides then have the same edges, without cracks. A quad with an unknown height (NaN) is not drawn.
// Normals are central differences of adjacent heights at each level, so lighting agrees on both sides, too.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/terrain.glsl"

layout(scalar, binding = 0) readonly buffer Height { float height[]; };

layout(location = 0) out vec3 at;
layout(location = 1) out vec3 outwards;

const uint CHUNK_QUADS = 32u; // along each side of a chunk
// Bits of the sides at which the neighbour is a level coarser.
const uint COARSER_LOW_X = 1u;
const uint COARSER_HIGH_X = 2u;
const uint COARSER_LOW_Y = 4u;
const uint COARSER_HIGH_Y = 8u;

float height_at(uvec2 g) { return height[g.y * n.x + g.x]; }

// Returns the grid position of a vertex of the chunk, clamped to the last height.
uvec2 grid_place(uvec2 vertex) {
    bool is_at_x = vertex.x == 0u && (coarser & COARSER_LOW_X) != 0u ||
                   vertex.x == CHUNK_QUADS && (coarser & COARSER_HIGH_X) != 0u;
    bool is_at_y = vertex.y == 0u && (coarser & COARSER_LOW_Y) != 0u ||
                   vertex.y == CHUNK_QUADS && (coarser & COARSER_HIGH_Y) != 0u;
    uvec2 moved = uvec2(is_at_y ? vertex.x & ~1u : vertex.x, is_at_x ? vertex.y & ~1u : vertex.y);
    return min(first + stride * moved, n - 1u);
}

// Returns the slope of the surface along x or y, m/m, from the known heights.
float rise(uvec2 g, uvec2 step_along) {
    uvec2 before = any(lessThan(g, step_along)) ? g : g - step_along;
    uvec2 after = min(g + step_along, n - 1u);
    if (isnan(height_at(before))) before = g;
    if (isnan(height_at(after))) after = g;
    uint cells = after.x - before.x + after.y - before.y;
    return cells == 0u ? 0.0 : (height_at(after) - height_at(before)) / (float(cells) * cell_m);
}

void main() {
    uint quad = uint(gl_VertexIndex) / 6u;
    uvec2 low = uvec2(quad % CHUNK_QUADS, quad / CHUNK_QUADS);
    gl_Position = NOWHERE;
    at = vec3(0.0);
    outwards = vec3(0.0, 0.0, 1.0);
    bool is_known = true;
    [[unroll]] for (uint corner = 0u; corner < 4u; ++corner) {
        is_known = is_known && !isnan(height_at(grid_place(low + uvec2(corner & 1u, corner >> 1u))));
    }
    if (!is_known) return;
    // Corners 0 1 3 and 0 3 2, two bits each, the first lowest.
    uint corner = (0xB34u >> (2u * (uint(gl_VertexIndex) % 6u))) & 3u;
    uvec2 g = grid_place(low + uvec2(corner & 1u, corner >> 1u));
    at = vec3(vec2(g) * cell_m, height_at(g));
    outwards = vec3(-rise(g, uvec2(1u, 0u)), -rise(g, uvec2(0u, 1u)), 1.0);
    gl_Position = clip_position(view, at - view.eye);
}
