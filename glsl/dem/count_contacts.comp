#version 460
// Counts the rows of each grain's contact list: everything within its reach and the skin.
//
// Bytes: 16 a grain read with those around it, 4 written. Order-independent.
// Work: 10 flop per candidate.
// Elements: piece_motions = 0, shapes = 0, faces = 0, piece_order = 0, piece_cell_start = 0, clock = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_BODIES = 1;
layout(constant_id = 2) const uint HAS_PIECES = 1;
layout(constant_id = 3) const uint BODY_KINDS = 0xe00df;
const uint DIMENSIONS = 3u;
#include "common/clock.glsl"
#include "dem/terms.glsl"
#include "dem/lists.glsl"
#include "dem/piece.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 4) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 5) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 6) readonly buffer PieceMotions { PieceMotion piece_motions[]; };
layout(scalar, binding = 7) readonly buffer Shapes { PieceShape shapes[]; };
layout(scalar, binding = 8) readonly buffer Faces { PieceFace faces[]; };
layout(scalar, binding = 9) readonly buffer PieceOrder { uint piece_order[]; };
layout(scalar, binding = 10) readonly buffer PieceCellStart { uint piece_cell_start[]; };
layout(scalar, binding = 11) readonly buffer Lists { DemLists lists[]; };
layout(scalar, binding = 12) writeonly buffer RowCount { uint row_count[]; };
layout(scalar, binding = 13) readonly buffer Clock { StepClock clock[]; };
layout(scalar, push_constant) uniform Params {
    // 1 to count with the skin, 0 without.
    uint has_skin;
};

uint n_rows;

void found_grain(uint j) { ++n_rows; }

void found_surface(uint number) { ++n_rows; }

#include "dem/search.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    n_rows = 0u;
    search(i, has_skin != 0u ? lists[0].skin_m : 0.0);
    row_count[i] = n_rows;
}
