#version 460
// Finds the blocks that particles occupy and reach, given the start of each cell of the lattice, or the
// number of its particles, which are then scanned: one workgroup, which keeps a bit for each block in shared
// memory.
//
// The lists are those of list_blocks.comp, propose_blocks.comp and link_blocks.comp: the occupied blocks
// ascending; the active ones in the order of the first step of a reach that lists them; `target` and `source`
// link both. `first_cell` is the index of a block's first cell, and place_of[b] the index of occupied block b
// in its list. Blocks past a capacity are left out, and place_of is then one past the last; `required` counts
// all. `is_own` and `rank` are scratch.
// Bytes: 4 a block of the lattice, 4 (3 + 4 · 2^D) an occupied and 4 (1 + 2^D) an active block.
// Order-independent.
// Elements: cell_count = n_blocks * BLOCK_NODES / 4 * SCANS.
// Elements: cell_start = (n_blocks + 3) / 4 + n_blocks * BLOCK_NODES / 4 * SCANS.
// Elements: occupied_args = all, active_args = all, occupied = all, first_cell = all, active_block = all.
// Elements: place_of = all, is_own = 0, rank = 0, target = all, source = all, required = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
// 1 to scan the numbers of particles.
layout(constant_id = 2) const uint SCANS = 0;
#include "sparse/blocks.glsl"
#include "primitives/workgroup_scan.glsl"
#include "primitives/dispatch.glsl"

layout(scalar, binding = 0) buffer CellCount { uvec4 cell_count[]; };
layout(scalar, binding = 1) coherent buffer CellStart { uvec4 cell_start[]; };
layout(scalar, binding = 2) writeonly buffer PlaceOf { uint place_of[]; };
layout(scalar, binding = 3) writeonly buffer OccupiedCount { uint occupied_count[]; };
layout(scalar, binding = 4) writeonly buffer OccupiedArgs { uvec3 occupied_args[]; };
layout(scalar, binding = 5) coherent buffer Occupied { uint occupied[]; };
layout(scalar, binding = 6) writeonly buffer FirstCell { uint first_cell[]; };
layout(scalar, binding = 7) coherent buffer Own { uint is_own[]; };
layout(scalar, binding = 8) coherent buffer Rank { uint rank[]; };
layout(scalar, binding = 9) writeonly buffer Target { uint target[]; };
layout(scalar, binding = 10) writeonly buffer ActiveCount { uint active_count[]; };
layout(scalar, binding = 11) writeonly buffer ActiveArgs { uvec3 active_args[]; };
layout(scalar, binding = 12) writeonly buffer Active { uint active_block[]; };
layout(scalar, binding = 13) writeonly buffer Source { uint source[]; };
layout(scalar, binding = 14) writeonly buffer Required { uint required[]; };
layout(scalar, push_constant) uniform Params {
    BlockLattice lattice;
    // Number of blocks of the lattice, at most MAX_BLOCKS.
    uint n_blocks;
    uint occupied_capacity;
    uint active_capacity;
    uint max_groups_x;
};

// Maximum number of blocks of the lattice.
const uint MAX_BLOCKS = 32768u;
// Rows of dispatch arguments.
const uint N_ARGS = 16u;

// Bits of the occupied blocks, and the number of occupied blocks before each word of them.
shared uint bits[MAX_BLOCKS / 32u];
shared uint before[MAX_BLOCKS / 32u];

uint bit_of(uint number) { return 1u << (number % 32u); }
bool is_occupied(uint number) { return (bits[number / 32u] & bit_of(number)) != 0u; }
uint index_of(uint number) {
    return before[number / 32u] + uint(bitCount(bits[number / 32u] & (bit_of(number) - 1u)));
}
uint find_block(uint number) { return is_occupied(number) ? index_of(number) : INVALID_INDEX; }

#include "sparse/reach.glsl"

// Ends a phase: the whole group sees what its threads have written.
void synchronize() {
    memoryBarrierBuffer();
    barrier();
}

// Returns the index of the first particle of a block, or of all blocks before it.
uint start_of(uint block) { return cell_start[block * (BLOCK_NODES / 4u)].x; }

// Scans the numbers of particles of all cells, each thread those of consecutive ones, and sets them to 0.
void scan_cells() {
    uint n_quads = n_blocks * BLOCK_NODES / 4u;
    uint share = (n_quads + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
    uint first = min(gl_LocalInvocationIndex * share, n_quads);
    uint end = min(first + share, n_quads);
    uint own = 0u;
    [[dont_unroll]] for (uint q = first; q < end; ++q) {
        uvec4 n = cell_count[q];
        own += n.x + n.y + n.z + n.w;
    }
    uvec2 sums = workgroup_exclusive_scan(own);
    [[dont_unroll]] for (uint q = first; q < end; ++q) {
        uvec4 n = cell_count[q];
        cell_start[q] = sums.x + uvec4(0u, n.x, n.x + n.y, n.x + n.y + n.z);
        cell_count[q] = uvec4(0u);
        sums.x += n.x + n.y + n.z + n.w;
    }
    if (gl_LocalInvocationIndex == 0u) cell_start[n_quads] = uvec4(sums.y);
    synchronize();
}

void main() {
    if (SCANS != 0u) scan_cells();
    uint lane = gl_LocalInvocationIndex;
    uint n_words = (n_blocks + 31u) / 32u;
    // Consecutive words of this thread.
    uint share = (n_words + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
    uint first_word = min(lane * share, n_words);
    uint end_word = min(first_word + share, n_words);

    for (uint w = first_word; w < end_word; ++w) bits[w] = 0u;
    barrier();
    [[dont_unroll]] for (uint b = lane; b < n_blocks; b += WORKGROUP_SIZE)
        if (start_of(b) != start_of(b + 1u)) atomicOr(bits[b / 32u], bit_of(b));
    barrier();
    uint n_own = 0u;
    for (uint w = first_word; w < end_word; ++w) n_own += uint(bitCount(bits[w]));
    uvec2 sums = workgroup_exclusive_scan(n_own);
    uint n_found = sums.y;
    uint n_occupied = min(n_found, occupied_capacity);
    for (uint w = first_word; w < end_word; ++w) {
        before[w] = sums.x;
        sums.x += uint(bitCount(bits[w]));
    }
    barrier();

    [[dont_unroll]] for (uint b = lane; b < n_blocks; b += WORKGROUP_SIZE) {
        if (!is_occupied(b)) continue;
        uint o = index_of(b);
        place_of[b] = min(o, occupied_capacity);
        if (o < occupied_capacity) {
            occupied[o] = b;
            first_cell[o] = b * BLOCK_NODES;
        }
    }
    barrier();
    // Blocks past the capacity reach none.
    RARELY(n_found > occupied_capacity) {
        for (uint w = first_word; w < end_word; ++w) {
            uint n_kept = min(occupied_capacity - min(before[w], occupied_capacity), 32u);
            // Bound: 32, the bits of a word.
            while (uint(bitCount(bits[w])) > n_kept) bits[w] &= ~(1u << uint(findMSB(bits[w])));
        }
    }
    synchronize();

    // Steps of its reach that each block lists: bits, then their ranks.
    uint n_each = (n_occupied + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
    uint first = min(lane * n_each, n_occupied);
    uint end = min(first + n_each, n_occupied);
    uint n_slots = 0u;
    [[dont_unroll]] for (uint o = first; o < end; ++o) {
        uvec3 place = block_place(lattice, occupied[o]);
        uint steps = 0u;
        [[dont_unroll]] for (uint s = 0u; s < BLOCK_REACH; ++s) {
            uvec3 block = place + reach_step(s);
            uint owner;
            bool is_inside = all(lessThan(block, lattice.blocks));
            if (is_inside && lowest_step(lattice, block, s, owner) == BLOCK_REACH) steps |= 1u << s;
        }
        is_own[o] = steps;
        n_slots += uint(bitCount(steps));
    }
    sums = workgroup_exclusive_scan(n_slots);
    uint n_active = min(sums.y, active_capacity);
    [[dont_unroll]] for (uint o = first; o < end; ++o) {
        uint steps = is_own[o];
        [[dont_unroll]] for (uint s = 0u; s < BLOCK_REACH; ++s) {
            rank[o * BLOCK_REACH + s] = sums.x;
            sums.x += steps >> s & 1u;
        }
    }
    synchronize();

    [[dont_unroll]] for (uint slot = lane; slot < n_occupied * BLOCK_REACH; slot += WORKGROUP_SIZE) {
        uint o = slot / BLOCK_REACH;
        uint s = slot % BLOCK_REACH;
        uvec3 block = block_place(lattice, occupied[o]) + reach_step(s);
        target[slot] = INVALID_INDEX;
        if (any(greaterThanEqual(block, lattice.blocks))) continue;
        uint owner;
        // At the latest, the block itself reaches it by this step.
        uint step = lowest_step(lattice, block, s + 1u, owner);
        uint place = rank[owner * BLOCK_REACH + step];
        if (place >= active_capacity) continue;
        target[slot] = place;
        if (step != s) continue;
        active_block[place] = block_number(lattice, block);
        [[dont_unroll]] for (uint k = 0u; k < BLOCK_REACH; ++k)
            source[place * BLOCK_REACH + k] = find_below(lattice, block, k);
    }
    if (lane < BLOCK_REACH) target[n_occupied * BLOCK_REACH + lane] = INVALID_INDEX;
    for (uint row = lane; row < N_ARGS; row += WORKGROUP_SIZE) {
        occupied_args[row] = dispatch_of(n_occupied, row, max_groups_x);
        active_args[row] = dispatch_of(n_active, row, max_groups_x);
    }
    if (lane == 0u) {
        occupied_count[0] = n_occupied;
        active_count[0] = n_active;
        required[0] = n_found;
        required[1] = sums.y;
    }
}
