// Links between pieces. Needs the buffers `linked_pieces` of uvec2, which holds, piece after piece, the other
// end of each of its links and the link, and `link_is_whole` of uint.
#ifndef DEM_LINKED
#define DEM_LINKED
#include "dem/piece.glsl"

bool are_linked(PieceShape shape, uint other) {
    [[dont_unroll]] for (uint k = 0u; k < shape.n_links; ++k) {
        uvec2 linked = linked_pieces[shape.first_link + k];
        if (linked.x == other && link_is_whole[linked.y] != 0u) return true;
    }
    return false;
}

#endif
