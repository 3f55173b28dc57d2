// Surfaces of closed triangle meshes: a tree of boxes finds the nearest point, and the pseudo-normal of the
// face, edge or corner on which it lies gives the side (Bærentzen & Aanæs 2005, IEEE Trans. Vis. Comput.
// Graph. 11, 243).
//
// Layout in `body_data`, from a mesh's first index on, all relative to the mesh's middle:
// - its reach;
// - the boxes of a complete binary tree, root first, level by level (lower corner, upper corner);
// - its triangles in the order of leaves (three corners; unit normals of the face, of the edges from each
//   corner to the next, and of the corners).
#ifndef COMMON_MESH
#define COMMON_MESH

const uint MESH_BOX_FLOATS = 6u;
const uint MESH_TRIANGLE_FLOATS = 30u;
// Distance above all others; its square is finite.
const float MESH_FAR_M = 1e18;

vec3 mesh_vector(uint at) { return vec3(body_data[at], body_data[at + 1u], body_data[at + 2u]); }

float mesh_box_distance2(uint at, vec3 x) {
    vec3 past = max(max(mesh_vector(at) - x, x - mesh_vector(at + 3u)), vec3(0.0));
    return dot(past, past);
}

struct MeshNearest {
    float distance2;
    // Offset from the nearest point so far.
    vec3 offset;
    // Pseudo-normal at that point.
    vec3 normal;
};

// Keeps the nearest point of an edge if it is nearer; `normals` are the indices of the normals of the edge
// and its two ends.
void meet_mesh_edge(vec3 x, vec3 from, vec3 to, uvec3 normals, inout MeshNearest nearest) {
    vec3 edge = to - from;
    float share = clamp(dot(x - from, edge) / max(dot(edge, edge), 1e-37), 0.0, 1.0);
    vec3 offset = x - from - share * edge;
    float distance2 = dot(offset, offset);
    if (distance2 >= nearest.distance2) return;
    uint normal = share <= 0.0 ? normals.y : share >= 1.0 ? normals.z : normals.x;
    nearest = MeshNearest(distance2, offset, mesh_vector(normal));
}

void meet_mesh_triangle(vec3 x, uint at, inout MeshNearest nearest) {
    vec3 a = mesh_vector(at);
    vec3 b = mesh_vector(at + 3u);
    vec3 c = mesh_vector(at + 6u);
    vec3 normal = mesh_vector(at + 9u);
    // Above the face, or nearest to one of its edges; the error is small even for slivers.
    bool is_above = dot(cross(normal, b - a), x - a) >= 0.0 && dot(cross(normal, c - b), x - b) >= 0.0 &&
                    dot(cross(normal, a - c), x - c) >= 0.0;
    if (is_above) {
        float above = dot(normal, x - a);
        if (above * above < nearest.distance2) nearest = MeshNearest(above * above, above * normal, normal);
        return;
    }
    meet_mesh_edge(x, a, b, at + uvec3(12u, 21u, 24u), nearest);
    meet_mesh_edge(x, b, c, at + uvec3(15u, 24u, 27u), nearest);
    meet_mesh_edge(x, c, a, at + uvec3(18u, 27u, 21u), nearest);
}

// Returns (unit normal, signed distance) at x, which is relative to the mesh's middle. The tree is traversed
// nearer child first; one bit per level records whether the other child is still to be visited, and the path
// back follows from the node's number.
vec4 mesh_surface(uint first, uint levels, uint n_triangles, float size_m, vec3 x) {
    uint boxes = first + 1u;
    uint n_leaves = 1u << levels;
    uint triangles = boxes + MESH_BOX_FLOATS * (2u * n_leaves - 1u);
    MeshNearest nearest = MeshNearest(MESH_FAR_M * MESH_FAR_M, vec3(MESH_FAR_M, 0.0, 0.0), vec3(0.0));
    uint node = 1u;
    uint pending = 0u;
    // Bound: the nodes of the tree, each visited once at most.
    [[dont_unroll]] while (true) {
        bool is_near = mesh_box_distance2(boxes + MESH_BOX_FLOATS * (node - 1u), x) < nearest.distance2;
        if (is_near && node < n_leaves) {
            uint left = boxes + MESH_BOX_FLOATS * (2u * node - 1u);
            float to_left = mesh_box_distance2(left, x);
            float to_right = mesh_box_distance2(left + MESH_BOX_FLOATS, x);
            node = 2u * node + uint(to_right < to_left);
            pending = 2u * pending + 1u;
            continue;
        }
        if (is_near) {
            uint leaf = node - n_leaves;
            uint end = (leaf + 1u) * n_triangles >> levels;
            [[dont_unroll]] for (uint k = leaf * n_triangles >> levels; k < end; ++k)
                meet_mesh_triangle(x, triangles + MESH_TRIANGLE_FLOATS * k, nearest);
        }
        if (pending == 0u) break;
        uint up = uint(findLSB(pending));
        node = (node >> up) ^ 1u;
        pending = (pending >> up) ^ 1u;
    }
    float distance = sqrt(nearest.distance2);
    float side = dot(nearest.offset, nearest.normal) < 0.0 ? -1.0 : 1.0;
    // On the surface a direction would be rounding error.
    bool is_on_it = distance <= 1e-6 * size_m;
    return vec4(is_on_it ? nearest.normal : side * nearest.offset / distance, side * distance);
}

#endif
