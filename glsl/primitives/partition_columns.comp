#version 460
// Compacts or partitions columns, fused with the scan: every element whose flag is not 0 is kept, and moves
// to the front of the moved columns in order; in the other pass of a partition, every element that is not
// kept. Up to five columns move in one pass.
//
// An element of column k is words[k] 32-bit words; words[k] = 0 means no such column, INVALID_INDEX the
// element's own index.
// Bytes: 4 an element for the flags, once more in the pass that sums tiles where there is no look-back; 4 ·
// words read and written for each element that moves. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/workgroup_scan.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 8;
// 0: look_back holds for each tile the number of elements that the tiles before it keep. 1: look-back.
layout(constant_id = 2) const uint LOOK_BACK = 0;
// 1: the dropped elements move.
layout(constant_id = 3) const uint MOVES_DROPPED = 0;

const uint TILE = WORKGROUP_SIZE * ITEMS_PER_THREAD;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Flags { uint flags[]; };
layout(scalar, binding = 2) coherent buffer LookBack { uint look_back[]; };
layout(scalar, binding = 3) writeonly buffer KeptCount { uint kept_count[]; };
layout(scalar, binding = 4) writeonly buffer DroppedCount { uint dropped_count[]; };
layout(scalar, binding = 5) readonly buffer Column0 { uint column0[]; };
layout(scalar, binding = 6) readonly buffer Column1 { uint column1[]; };
layout(scalar, binding = 7) readonly buffer Column2 { uint column2[]; };
layout(scalar, binding = 8) readonly buffer Column3 { uint column3[]; };
layout(scalar, binding = 9) readonly buffer Column4 { uint column4[]; };
layout(scalar, binding = 10) writeonly buffer Moved0 { uint moved0[]; };
layout(scalar, binding = 11) writeonly buffer Moved1 { uint moved1[]; };
layout(scalar, binding = 12) writeonly buffer Moved2 { uint moved2[]; };
layout(scalar, binding = 13) writeonly buffer Moved3 { uint moved3[]; };
layout(scalar, binding = 14) writeonly buffer Moved4 { uint moved4[]; };
layout(scalar, push_constant) uniform Params { uint words[5]; };

#include "primitives/look_back.glsl"

shared uint rank[TILE + TILE / 32u];

uint slot(uint place) { return place + place / 32u; }

uint tile_sum(uint tile) {
    uint own = 0u;
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = tile * TILE + item * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (i < count[0]) own += min(flags[i], 1u);
    }
    return workgroup_exclusive_scan(own).y;
}

#define MOVE(k)                                                                                       \
    if (words[k] == INVALID_INDEX) moved##k[to] = i;                                                  \
    else for (uint w = 0u; w < words[k]; ++w) moved##k[words[k] * to + w] = column##k[words[k] * i + w];

void main() {
    uint n = count[0];
    uint lane = gl_LocalInvocationIndex;
    uint tile = LOOK_BACK != 0u ? take_ticket(0u) : group_idx();
    uint begin = tile * TILE;
    // The whole group returns together: a folded dispatch may hold groups past the last tile.
    if (begin >= n) return;

    uint kept_items = 0u;
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        uint flag = begin + place < n ? min(flags[begin + place], 1u) : 0u;
        kept_items |= flag << item;
        rank[slot(place)] = flag;
    }
    barrier();
    uint own = 0u;
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item)
        own += rank[slot(lane * ITEMS_PER_THREAD + item)];
    uvec2 before_and_all = workgroup_exclusive_scan(own);
    uint before = before_and_all.x;
    before += LOOK_BACK != 0u ? sum_before_tile(tile, before_and_all.y) : look_back[tile];
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = lane * ITEMS_PER_THREAD + item;
        uint flag = rank[slot(place)];
        rank[slot(place)] = before;
        before += flag;
        if (begin + place + 1u == n) {
            kept_count[0] = before;
            dropped_count[0] = n - before;
        }
    }
    barrier();
    [[dont_unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        uint i = begin + place;
        if (i >= n) break;
        bool is_kept = (kept_items >> item & 1u) != 0u;
        if (is_kept == (MOVES_DROPPED != 0u)) continue;
        uint to = is_kept ? rank[slot(place)] : i - rank[slot(place)];
        MOVE(0)
        MOVE(1)
        MOVE(2)
        MOVE(3)
        MOVE(4)
    }
}
