#version 460
// Writes the vertices: one on each crossed edge, where the field, linear along the edge, takes the value
// `iso`, and its unit normal in the direction of the falling field: minus the gradient, interpolated between
// those of the edge's nodes (central differences).
//
// A vertex keeps NEAREST of an edge away from its nodes: with a node exactly at the level, all vertices
// around it would coincide, and triangles between them would have no area. Where there is no gradient, the
// normal is along the edge. Bytes: 4 a cube and 24 a vertex, and the field about it. Order-independent: each
// vertex has one thread and one place.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
const uint DIMENSIONS = 3u;
#include "surface/cubes.glsl"

layout(scalar, binding = 0) readonly buffer CubeBlockCount { uint cube_block_count[]; };
layout(scalar, binding = 1) readonly buffer CubeBlock { uint cube_block[]; };
layout(scalar, binding = 2) readonly buffer Marked { uint marked[]; };
layout(scalar, binding = 3) readonly buffer WordBase { uint word_base[]; };
layout(scalar, binding = 4) readonly buffer NodeBlock { uint node_block[]; };
layout(scalar, binding = 5) readonly buffer Value { float value[]; };
layout(scalar, binding = 6) readonly buffer Cube { uint cube[]; };
layout(scalar, binding = 7) readonly buffer VertexBase { uint vertex_base[]; };
layout(scalar, binding = 8) writeonly buffer Position { vec3 position[]; };
layout(scalar, binding = 9) writeonly buffer Normal { vec3 normal[]; };

#include "surface/field.glsl"

layout(scalar, push_constant) uniform Params {
    BlockLattice lattice;
    float iso;
    float cell_m;
    uint capacity;
};

// Minimum distance of a vertex from a node, as a share of the edge.
const float NEAREST = 1.0 / 1024.0;

// Returns the position along an edge at which the field takes the value `iso`. NaN gives the start of the
// edge.
float crossing(float begin, float end) {
    precise float t = (iso - begin) / (end - begin);
    return t > NEAREST ? min(t, 1.0 - NEAREST) : NEAREST;
}

vec3 unit_normal(vec3 slope, vec3 edge) {
    // Scaled by the largest component first: the square of a small or large one does not fit f32.
    float largest = max(abs(slope.x), max(abs(slope.y), abs(slope.z)));
    // NaN fails any comparison, but may pass a maximum.
    bool is_finite = all(lessThanEqual(abs(slope), vec3(3.0e38)));
    if (!is_finite || largest == 0.0) return edge;
    return -normalize(slope / largest);
}

void main() {
    uint h = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (h >= cube_block_count[0]) return;
    uint word = cube[h * BLOCK_NODES + n];
    uint crossed = crossed_edges(cube_case(word));
    if (crossed == 0u) return;
    HomeBlock home = HomeBlock(h, cube_block_place(lattice, cube_block[h]));
    ivec3 node = SIDE * home.block + ivec3(node_place(n));
    uint first = vertex_base[h] + cube_vertices_before(word);
    float begin = value_in_block(h, node);
    vec3 slope = twice_gradient(lattice, home, node);
    [[dont_unroll]] for (uint axis = 0u; axis < 3u; ++axis) {
        if ((crossed >> axis & 1u) == 0u) continue;
        uint vertex = first + crossed_before(crossed, axis);
        if (vertex >= capacity) return;
        ivec3 along = ivec3(0);
        along[axis] = 1;
        float end = value_at(lattice, home, node + along);
        float t = crossing(begin, end);
        precise vec3 place = (vec3(node) + t * vec3(along)) * cell_m + lattice.origin_m;
        position[vertex] = place;
        vec3 edge = begin > end ? vec3(along) : -vec3(along);
        normal[vertex] = unit_normal(mix(slope, twice_gradient(lattice, home, node + along), t), edge);
    }
}
