#version 460
// Finds the cell of each piece: its number in a separate wrapped grid, whose cells are as wide as the maximum
// extent of pieces. Bytes: 16 a piece. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "dem/terms.glsl"
#include "dem/piece.glsl"

layout(scalar, binding = 0) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 1) readonly buffer Motions { PieceMotion motions[]; };
layout(scalar, binding = 2) writeonly buffer Key { uint key[]; };

void main() {
    uint i = thread_idx();
    if (i >= terms[0].n_pieces) return;
    WrappedGrid grid = terms[0].piece_grid;
    key[i] = cell_number(grid, wrapped_cell(grid, motions[i].centre_m));
}
