#version 460
// Finds the inside corners of each cube, and counts its vertices and triangles: a cube has the vertices of
// the crossed edges that begin at its lowest node, and the triangles of its case.
//
// A node is inside if its value is at least `iso`, so a node exactly at the level is inside for all of its
// cubes; NaN is outside. Counts are summed within blocks here, over 64 threads; sums over blocks are left to
// a scan.
// Bytes: 4 a node read and 4 a cube written, 12 a block. Order-independent: integer sums.
// Elements: value = threads * BLOCK_NODES, cube = threads * BLOCK_NODES.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint THREADS_PER_ITEM = 64;
const uint DIMENSIONS = 3u;
#include "primitives/workgroup_scan.glsl"
#include "surface/cubes.glsl"

layout(scalar, binding = 0) readonly buffer CubeBlockCount { uint cube_block_count[]; };
layout(scalar, binding = 1) readonly buffer CubeBlock { uint cube_block[]; };
layout(scalar, binding = 2) readonly buffer Marked { uint marked[]; };
layout(scalar, binding = 3) readonly buffer WordBase { uint word_base[]; };
layout(scalar, binding = 4) readonly buffer NodeBlock { uint node_block[]; };
layout(scalar, binding = 5) readonly buffer Value { float value[]; };
layout(scalar, binding = 6) readonly buffer Table { uint table[]; };
layout(scalar, binding = 7) writeonly buffer Cube { uint cube[]; };
layout(scalar, binding = 8) writeonly buffer VerticesIn { uint vertices_in[]; };
layout(scalar, binding = 9) writeonly buffer TrianglesIn { uint triangles_in[]; };

#include "surface/field.glsl"

layout(scalar, push_constant) uniform Params {
    BlockLattice lattice;
    float iso;
};

// Sum over the blocks before each one in its workgroup.
shared uint before_block[WORKGROUP_SIZE / THREADS_PER_ITEM];

// Inside flags of the 5³ nodes that are corners of a block's cubes, in two words per thread: each node is
// looked up once.
const uint CORNER_SIDE = BLOCK_SIDE + 1u;
const uint CORNER_NODES = CORNER_SIDE * CORNER_SIDE * CORNER_SIDE;
shared uint is_inside[2u * WORKGROUP_SIZE];

uint corner_number(uvec3 at) { return (at.z * CORNER_SIDE + at.y) * CORNER_SIDE + at.x; }

void look_up_corners(uint h, uint n, uint first) {
    HomeBlock home = HomeBlock(h, cube_block_place(lattice, cube_block[h]));
    [[dont_unroll]] for (uint i = n; i < CORNER_NODES; i += THREADS_PER_ITEM) {
        uvec3 at = uvec3(i % CORNER_SIDE, i / CORNER_SIDE % CORNER_SIDE, i / (CORNER_SIDE * CORNER_SIDE));
        is_inside[first + i] = value_at(lattice, home, SIDE * home.block + ivec3(at)) >= iso ? 1u : 0u;
    }
}

uint corners_inside(uvec3 in_block, uint first) {
    uint corners = 0u;
    [[unroll]] for (uint c = 0u; c < 8u; ++c) {
        corners |= is_inside[first + corner_number(in_block + reach_step(c))] << c;
    }
    return corners;
}

void main() {
    uint h = thread_idx() / THREADS_PER_ITEM;
    uint n = thread_idx() % THREADS_PER_ITEM;
    bool is_cube = h < cube_block_count[0];
    uint in_group = gl_LocalInvocationIndex / THREADS_PER_ITEM;
    uint first = 2u * THREADS_PER_ITEM * in_group;
    if (is_cube) look_up_corners(h, n, first);
    barrier();
    uint corners = is_cube ? corners_inside(node_place(n), first) : 0u;
    uint vertices = bitCount(crossed_edges(corners));
    uint triangles = table[corners * CASE_WORDS];
    // Both at once: no sum over a workgroup of 4096 threads reaches 2^16, and no sum over a block 2^8 and
    // 2^9.
    uint before = workgroup_exclusive_scan(vertices | triangles << 16u).x;
    if (n == 0u) before_block[in_group] = before;
    barrier();
    uint own = before - before_block[in_group];
    if (!is_cube) return;
    cube[h * BLOCK_NODES + n] = cube_word(corners, own & 0xffffu, own >> 16u);
    if (n + 1u < BLOCK_NODES) return;
    vertices_in[h] = (own & 0xffffu) + vertices;
    triangles_in[h] = (own >> 16u) + triangles;
}
