#version 460
// Writes the triangles of each cube, as indices of vertices, counter-clockwise seen from outside.
//
// Triangles with a vertex beyond the capacity are three times vertex 0, so that no unwritten vertex is read.
// Bytes: 4 a cube and 12 a triangle, and the words of the cubes about it. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
const uint DIMENSIONS = 3u;
#include "surface/cubes.glsl"

layout(scalar, binding = 0) readonly buffer CubeBlockCount { uint cube_block_count[]; };
layout(scalar, binding = 1) readonly buffer CubeBlock { uint cube_block[]; };
layout(scalar, binding = 2) readonly buffer Marked { uint marked[]; };
layout(scalar, binding = 3) readonly buffer WordBase { uint word_base[]; };
layout(scalar, binding = 4) readonly buffer Table { uint table[]; };
layout(scalar, binding = 5) readonly buffer Cube { uint cube[]; };
layout(scalar, binding = 6) readonly buffer VertexBase { uint vertex_base[]; };
layout(scalar, binding = 7) readonly buffer TriangleBase { uint triangle_base[]; };
layout(scalar, binding = 8) writeonly buffer Triangle { uvec3 triangle[]; };

#include "surface/find_cube_block.glsl"

layout(scalar, push_constant) uniform Params {
    BlockLattice lattice;
    uint vertex_capacity;
    uint triangle_capacity;
};

// Returns the vertex on an edge of the cube with this lowest node; past all others if it exceeded the
// capacity.
uint vertex_of(uint h, ivec3 block, ivec3 node, uint edge) {
    ivec3 owner = node + edge_begin(edge);
    ivec3 of = block_of_node(owner);
    uint in_list = of == block ? h : find_cube_block(lattice, of);
    if (in_list == INVALID_INDEX) return INVALID_INDEX;
    uint word = cube[in_list * BLOCK_NODES + place_of_node(owner)];
    uint before = crossed_before(crossed_edges(cube_case(word)), edge / 4u);
    return vertex_base[in_list] + cube_vertices_before(word) + before;
}

void main() {
    uint h = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    if (h >= cube_block_count[0]) return;
    uint word = cube[h * BLOCK_NODES + n];
    uint row = cube_case(word) * CASE_WORDS;
    uint n_triangles = table[row];
    if (n_triangles == 0u) return;
    ivec3 block = cube_block_place(lattice, cube_block[h]);
    ivec3 node = SIDE * block + ivec3(node_place(n));
    uint first = triangle_base[h] + cube_triangles_before(word);
    [[dont_unroll]] for (uint k = 0u; k < n_triangles; ++k) {
        if (first + k >= triangle_capacity) return;
        uint edges = table[row + 1u + k];
        uvec3 of;
        [[dont_unroll]] for (uint corner = 0u; corner < 3u; ++corner) {
            of[corner] = vertex_of(h, block, node, edges >> (4u * corner) & 15u);
        }
        bool is_whole = all(lessThan(of, uvec3(vertex_capacity)));
        triangle[first + k] = is_whole ? of : uvec3(0u);
    }
}
