// Broad phase: finds everything within the reach of a grain and a skin: grains of the 27 cells around it,
// walls of the domain, bodies and pieces of slabs.
//
// Needs the buffers that it names, the clock among them, the constants HAS_BODIES, HAS_PIECES and BODY_KINDS,
// and the functions `found_grain(j)` with the index of a grain and `found_surface(number)`.
#ifndef DEM_SEARCH
#define DEM_SEARCH
#include "common/surfaces.glsl"
#include "dem/planes.glsl"
#include "dem/partners.glsl"

void search(uint i, float skin_m) {
    DemTerms t = terms[0];
    float time_s = substep_start_s(clock[0], t.dt_s);
    vec3 x = sphere[i].xyz;
    float r = sphere[i].w;
    float widened = r + contact_gap(t) + skin_m;
    uvec3 cell = wrapped_cell(t.grid, x);
    [[dont_unroll]] for (uint row = 0u; row < 9u; ++row) {
        uint first = row_about(t.grid, cell, row);
        uint end = cell_start[first + 3u];
        [[dont_unroll]] for (uint j = cell_start[first]; j < end; ++j) {
            vec4 other = sphere[j];
            vec3 apart = x - other.xyz;
            float reach = widened + other.w;
            if (j != i && dot(apart, apart) <= reach * reach) found_grain(j);
        }
    }
    [[dont_unroll]] for (uint k = 0u; k < 6u; ++k)
        if (wall(t, k, x).w <= r + skin_m) found_surface(FIRST_WALL + k);
    if (HAS_BODIES != 0u)
        [[dont_unroll]] for (uint k = 0u; k < t.n_bodies; ++k)
            if (surface_of(t.up_axis, bodies[k], x, time_s).w <= r + surface_gap(t) + skin_m)
                found_surface(FIRST_BODY + k);
    if (HAS_PIECES != 0u) {
        cell = wrapped_cell(t.piece_grid, x);
        [[dont_unroll]] for (uint row = 0u; row < 9u; ++row) {
            uint first = row_about(t.piece_grid, cell, row);
            uint end = piece_cell_start[first + 3u];
            [[dont_unroll]] for (uint j = piece_cell_start[first]; j < end; ++j) {
                uint piece = piece_order[j];
                vec3 apart = x - piece_motions[piece].centre_m;
                float reach = r + shapes[piece].reach_m + skin_m;
                if (dot(apart, apart) > reach * reach) continue;
                vec3 local = rotate_inverse(piece_motions[piece].rotation, apart);
                if (farthest_plane(shapes[piece], local).w <= r + skin_m) found_surface(FIRST_PIECE + piece);
            }
        }
    }
}

#endif
