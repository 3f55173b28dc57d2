// Numbering of corners and edges of cubes, and packed words of cubes.
//
// Corner c is the lowest node and one more along each axis whose bit is set in c. Edge 4 a + j runs along
// axis a from the corner that has the bits of j on axes a + 1 and a + 2, in turn. So edges 0, 4 and 8 begin
// at the lowest node, which owns them.

// Packs the word of a cube: its case, bit c set if corner c is inside; the number of vertices and of
// triangles of the cubes before it in its block.
uint cube_word(uint corners, uint vertices_before, uint triangles_before) {
    return corners | vertices_before << 8u | triangles_before << 16u;
}
uint cube_case(uint word) { return word & 0xffu; }
uint cube_vertices_before(uint word) { return word >> 8u & 0xffu; }
uint cube_triangles_before(uint word) { return word >> 16u; }

// Returns the crossed edges, bit a for the edge along axis a that begins at the cube's lowest node.
uint crossed_edges(uint corners) {
    uint lowest = (corners & 1u) * 7u;
    uint ends = (corners >> 1u & 1u) | (corners >> 2u & 1u) << 1u | (corners >> 4u & 1u) << 2u;
    return lowest ^ ends;
}

// Returns the number of crossed edges of the same node before the one along `axis`.
uint crossed_before(uint crossed, uint axis) { return bitCount(crossed & ((1u << axis) - 1u)); }

// Returns the start of an edge, relative to the cube's lowest node.
ivec3 edge_begin(uint edge) {
    uint axis = edge / 4u;
    ivec3 begin = ivec3(0);
    begin[(axis + 1u) % 3u] = int(edge & 1u);
    begin[(axis + 2u) % 3u] = int(edge >> 1u & 1u);
    return begin;
}

// Number of words of a case in the table: the number of triangles, then up to five of three edges, four bits
// each.
const uint CASE_WORDS = 6u;
