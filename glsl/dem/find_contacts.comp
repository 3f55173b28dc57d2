#version 460
// Finds everything near enough to a grain to touch it: grains of the 27 cells around it, in the order of
// cells, then walls of the domain, bodies and pieces of slabs. Their number is the number of rows in which
// the step will store the grain's contacts.
//
// The contact law costs far more than a distance, and few grains in the cells around are near; so the law has
// its own pass, in which every thread has contacts. Bytes: 16 a grain read with those around it, 4 for each
// that is near and 4 written. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint MAX_CONTACTS = 24;
layout(constant_id = 2) const uint HAS_BODIES = 1;
layout(constant_id = 3) const uint HAS_PIECES = 1;
layout(constant_id = 4) const uint BODY_KINDS = 0xdf;
// 1 if a body moves.
layout(constant_id = 5) const uint HAS_MOTION = 1;
#define MOTION_IS_OPTIONAL
const uint DIMENSIONS = 3u;
#include "dem/terms.glsl"
#include "dem/fault.glsl"
#include "dem/grain.glsl"
#include "dem/piece.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 4) readonly buffer Motion { GrainMotion motion[]; };
layout(scalar, binding = 5) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 6) readonly buffer Heights { float heights[]; };
layout(scalar, binding = 7) readonly buffer PieceMotions { PieceMotion piece_motions[]; };
layout(scalar, binding = 8) readonly buffer Shapes { PieceShape shapes[]; };
layout(scalar, binding = 9) readonly buffer Faces { PieceFace faces[]; };
layout(scalar, binding = 10) readonly buffer PieceOrder { uint piece_order[]; };
layout(scalar, binding = 11) readonly buffer PieceCellStart { uint piece_cell_start[]; };
// Indices of grains and numbers of surfaces, MAX_CONTACTS per grain: its k-th entry is k counts after its
// first, since threads write them at the same time.
layout(scalar, binding = 12) writeonly buffer Near { uint near[]; };
layout(scalar, binding = 13) writeonly buffer NearCount { uint near_count[]; };
layout(scalar, binding = 14) buffer Fault { DemFault fault[]; };
layout(scalar, push_constant) uniform Params {
    uint step;
    float time_s;
};

#include "common/surfaces.glsl"
#include "dem/planes.glsl"
#include "dem/partners.glsl"

uint n_grains;
// Index of the next list entry, and the number of entries.
uint next;
uint n_near;

void note(uint partner) {
    if (n_near++ < MAX_CONTACTS) near[next] = partner;
    next += n_grains;
}

void main() {
    uint i = thread_idx();
    n_grains = count[0];
    if (i >= n_grains) return;
    if (fault[0].step < step) {
        // If a step has failed, its state keeps its rows.
        near_count[i] = motion[i].old_end - motion[i].old_row;
        return;
    }
    DemTerms t = terms[0];
    next = i;
    n_near = 0u;
    vec3 x = sphere[i].xyz;
    float r = sphere[i].w;

    // A bond breaks before its gap is this wide.
    float gap = max(t.cohesion_range_m, t.has_bonds != 0u ? t.bond_strength_n / t.normal_stiffness_n_m : 0.0);
    uvec3 cell = wrapped_cell(t.grid, x);
    [[dont_unroll]] for (uint row = 0u; row < 9u; ++row) {
        uint first = row_about(t.grid, cell, row);
        uint end = cell_start[first + 3u];
        [[dont_unroll]] for (uint j = cell_start[first]; j < end; ++j) {
            vec4 other = sphere[j];
            vec3 apart = x - other.xyz;
            float reach = r + other.w + gap;
            if (j != i && dot(apart, apart) <= reach * reach) note(j);
        }
    }
    [[dont_unroll]] for (uint k = 0u; k < 6u; ++k)
        if (wall(t, k, x).w <= r) note(FIRST_WALL + k);
    if (HAS_BODIES != 0u)
        [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k)
            if (surface_of(t.up_axis, bodies[k], x, time_s).w <= r + t.adhesion_range_m) note(FIRST_BODY + k);
    if (HAS_PIECES != 0u) {
        cell = wrapped_cell(t.piece_grid, x);
        [[dont_unroll]] for (uint row = 0u; row < 9u; ++row) {
            uint first = row_about(t.piece_grid, cell, row);
            uint end = piece_cell_start[first + 3u];
            [[dont_unroll]] for (uint j = piece_cell_start[first]; j < end; ++j) {
                uint piece = piece_order[j];
                vec3 apart = x - piece_motions[piece].centre_m;
                float reach = r + shapes[piece].reach_m;
                if (dot(apart, apart) > reach * reach) continue;
                vec3 local = rotate_inverse(piece_motions[piece].rotation, apart);
                if (farthest_plane(shapes[piece], local).w <= r) note(FIRST_PIECE + piece);
            }
        }
    }
    near_count[i] = min(n_near, MAX_CONTACTS);
    if (n_near <= MAX_CONTACTS) return;
    atomicMin(fault[0].step, step);
    atomicMin(fault[0].crowded, motion[i].id);
}
