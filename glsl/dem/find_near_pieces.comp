#version 460
// Lists the pieces that each piece may touch, so that its points test only these. A piece is listed if its
// bounding sphere overlaps the other's, none of its planes separates it from that sphere, and no link
// connects the two.
//
// The list is in the order of cells. If more bounding spheres overlap than its capacity, its length says so,
// and points search the grid themselves. If the contact lists of grains are built in this step, it stores
// the poses for which they are. Bytes: 4 (3 + 4 + 1) a piece, and those around it. Order-independent.
// Elements: faces = all, piece_cell_start = 0, linked_pieces = all, link_is_whole = all, near_pieces = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint MAX_NEAR = 32;
#include "dem/terms.glsl"
#include "dem/piece.glsl"

layout(scalar, binding = 0) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 1) readonly buffer Motions { PieceMotion motions[]; };
layout(scalar, binding = 2) readonly buffer Shapes { PieceShape shapes[]; };
layout(scalar, binding = 3) readonly buffer Faces { PieceFace faces[]; };
layout(scalar, binding = 4) readonly buffer PieceOrder { uint piece_order[]; };
layout(scalar, binding = 5) readonly buffer PieceCellStart { uint piece_cell_start[]; };
layout(scalar, binding = 6) readonly buffer LinkedPieces { uvec2 linked_pieces[]; };
layout(scalar, binding = 7) readonly buffer LinkIsWhole { uint link_is_whole[]; };
// Lists of MAX_NEAR + 1 words per piece: the number of near pieces, then their indices; above MAX_NEAR there
// is no list.
layout(scalar, binding = 8) buffer NearPieces { uint near_pieces[]; };
// Number of grains whose lists are built, 0 in other steps.
layout(scalar, binding = 9) readonly buffer ListingCount { uint listing_count[]; };
layout(scalar, binding = 10) writeonly buffer ListedPoses { PiecePose listed_poses[]; };

#include "dem/linked.glsl"
#include "dem/planes.glsl"

// Factor by which pieces are enlarged here, so that the rounding of positions cannot hide a contact of a
// point.
const float MARGIN = 1.01;

void main() {
    uint i = thread_idx();
    DemTerms t = terms[0];
    if (i >= t.n_pieces) return;
    PieceShape shape = shapes[i];
    vec3 centre = motions[i].centre_m;
    if (listing_count[0] != 0u) listed_poses[i] = PiecePose(centre, motions[i].rotation);
    uint near_list = i * (MAX_NEAR + 1u);
    uint first_slot = near_list + 1u;
    uint n_near = 0u;
    // Two bounding spheres reach farther than a point and a sphere: up to two cells.
    uvec3 cells = t.piece_grid.cells;
    uvec3 cell = wrapped_cell(t.piece_grid, centre);
    uint x = max(cell.x, 2u) - 2u;
    uint n_x = min(cell.x + 3u, cells.x) - x;
    // No row is visited twice, even with fewer than five.
    uvec2 n_rows = min(uvec2(5u), cells.yz);
    [[dont_unroll]] for (uint row = 0u; row < n_rows.x * n_rows.y; ++row) {
        uvec2 yz = (cell.yz + cells.yz - 2u + uvec2(row % n_rows.x, row / n_rows.x)) % cells.yz;
        uint first = cell_number(t.piece_grid, uvec3(x, yz));
        uint end = piece_cell_start[first + n_x];
        [[dont_unroll]] for (uint j = piece_cell_start[first]; j < end; ++j) {
            uint other = piece_order[j];
            vec3 apart = centre - motions[other].centre_m;
            float reach = MARGIN * (shape.reach_m + shapes[other].reach_m);
            if (other == i || dot(apart, apart) > reach * reach) continue;
            if (n_near < MAX_NEAR) near_pieces[first_slot + n_near] = other;
            ++n_near;
        }
    }
    near_pieces[near_list] = n_near;
    if (n_near > MAX_NEAR) return;
    // Few candidates are left for the expensive test.
    uint n_kept = 0u;
    [[dont_unroll]] for (uint k = 0u; k < n_near; ++k) {
        uint other = near_pieces[first_slot + k];
        vec4 plane = farthest_plane(
            shapes[other], rotate_inverse(motions[other].rotation, centre - motions[other].centre_m));
        if (plane.w <= MARGIN * shape.reach_m && !are_linked(shape, other))
            near_pieces[first_slot + n_kept++] = other;
    }
    near_pieces[near_list] = n_kept;
}
