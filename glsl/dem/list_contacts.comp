#version 460
// Lists everything within the reach of a grain and the skin, in ascending order of the partner: ids of
// grains, then numbers of surfaces. load_histories.comp adds their histories. Lists that do not fit are not
// written (hold_overflow.comp).
//
// Bytes: 16 a grain read with those around it, 4 read and 4 written for each that is listed.
// Order-independent.
// Work: 10 flop per candidate.
// Elements: piece_motions = 0, shapes = 0, faces = 0, piece_order = 0, piece_cell_start = 0, clock = 0.
// Elements: near = all.
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
// Id of each grain.
layout(scalar, binding = 12) readonly buffer Order { uint order[]; };
layout(scalar, binding = 13) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 14) buffer Near { uint near[]; };
layout(scalar, binding = 15) readonly buffer Clock { StepClock clock[]; };

uint next;
uint end;

// As many are found as count_contacts.comp has counted.
void append(uint partner) {
    if (next < end) near[next++] = partner;
}

void found_grain(uint j) { append(order[j]); }

void found_surface(uint number) { append(number); }

#include "dem/search.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    uint begin = first_row[i];
    next = begin;
    end = first_row[i + 1u];
    search(i, lists[0].used_skin_m);
    // Insertion sort: few rows, in an order of nine ascending runs.
    [[dont_unroll]] for (uint k = begin + 1u; k < next; ++k) {
        uint partner = near[k];
        uint row = k;
        [[dont_unroll]] for (; row > begin; --row) {
            uint before = near[row - 1u];
            if (before < partner) break;
            near[row] = before;
        }
        if (row != k) near[row] = partner;
    }
}
