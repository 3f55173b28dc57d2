#version 460
// Builds bonds by compare-and-swap (Chen2021 §7.2.3): the lower end of an eligible pair claims an empty slot
// of its own row, then one of its partner's; if the partner has none left, it releases its own.
// ORDER-DEPENDENT: the bonded pairs depend on the order in which threads run.
//
// Differences from the printed listing:
// - a pair has one initiator, which has checked that it is not bonded yet;
// - only slots below an end's limit are claimed, so no degree exceeds its limit;
// - a failed claim is undone, so every bond has both ends.
//
// Passes terminate because the initiator looks for an empty slot at the partner before it claims. The only
// claims ever undone are a particle's own, one at a time. Suppose a pass adds no bond although an open pair
// is left. Then its lower end was blocked by such a claim of the upper end. The upper end in turn tried a
// partner with an empty slot and was blocked by a claim of that partner, and so on to ever higher particles;
// the last one is not blocked and bonds, a contradiction. So a pass that adds no bond leaves no pair with
// empty slots at both ends.
//
// Neighbours that run in lockstep can all block each other; a few attempts per pass resolve that. A build
// that does not fit (required > slots) does nothing.
// Bytes: 24 + (12 + 4 · state columns) · slots a particle plus candidates from cache.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "bonds/bonds.glsl"
#include "bonds/search.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer Limit { uint limit[]; };
layout(scalar, binding = 5) readonly buffer InitialState { uint initial_state[]; };
layout(scalar, binding = 6) readonly buffer Required { uint required[]; };
layout(scalar, binding = 7) coherent buffer Partner { uint partner[]; };
layout(scalar, binding = 8) writeonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 9) writeonly buffer State { uint state[]; };
layout(scalar, binding = 10) buffer Progress { uint progress[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    BondTerms terms;
    uint round;
};

const uint ATTEMPTS = 16u;

// Limit on the loop rounds of a thread. A software device ends all loops of a thread after 65 535 rounds,
// even in the middle of a claim. It counts those of all lanes of a vector together, and lanes that search
// rows side by side take as long as the longest search: 1.8 times the mean of eight lanes, if each finds its
// partner anywhere in the row. A thread that comes near the limit leaves the rest to the next pass, which
// skips the pairs that this pass has bonded; a full row of 240 slots takes 28 920 rounds to skip.
const uint MAX_LOOP_ROUNDS = 34000u;
uint loop_rounds = 0u;

// Returns true while a pair can still be examined and claimed.
bool has_rounds_left() {
    return loop_rounds + 4u * terms.table.slots + 2u * terms.table.state_columns < MAX_LOOP_ROUNDS;
}

// Number of slots that particle i may use.
uint usable_slots(uint i) { return min(min(limit[i], terms.max_bonds), terms.table.slots); }

// Searches the whole row, because released claims leave holes.
bool is_bonded(uint i, uint j) {
    for (uint slot = 0u; slot < terms.table.slots; ++slot, ++loop_rounds)
        if (partner[slot_idx(terms.table, slot, i)] == j) return true;
    return false;
}

bool has_empty_slot(uint i, uint usable) {
    for (uint slot = 0u; slot < usable; ++slot, ++loop_rounds)
        if (partner[slot_idx(terms.table, slot, i)] == INVALID_INDEX) return true;
    return false;
}

// Claims a slot of i for j; returns it, or INVALID_INDEX.
uint claim(uint i, uint usable, uint j) {
    for (uint slot = 0u; slot < usable; ++slot, ++loop_rounds) {
        uint at = slot_idx(terms.table, slot, i);
        if (atomicCompSwap(partner[at], INVALID_INDEX, j) == INVALID_INDEX) return slot;
    }
    return INVALID_INDEX;
}

void write_bond(uint at, float rest_m) {
    rest_length_m[at] = rest_m;
    for (uint column = 0u; column < terms.table.state_columns; ++column)
        state[state_idx(terms.table, column, at)] = initial_state[column];
}

void main() {
    uint i = thread_idx();
    if (i >= count[0] || required[0] > terms.table.slots) return;
    if (round > 0u && progress[round - 1u] == 0u) return;
    uint usable = usable_slots(i);
    // No other claim in this row is ever undone, so a full row stays full.
    if (!has_empty_slot(i, usable)) return;
    vec3 x = position[i];
    float radius2 = radius2_m2(terms);
    uint made = 0u;
    bool full = false;
    FOR_EACH_CANDIDATE(grid, home_of(grid, key[i]), j) {
        ++loop_rounds;
        if (j <= i || full || !has_rounds_left()) continue;
        float d2 = distance2_m2(x, position[j]);
        if (!(d2 <= radius2) || is_bonded(i, j)) continue;
        uint other_usable = usable_slots(j);
        for (uint attempt = 0u; attempt < ATTEMPTS && has_empty_slot(j, other_usable); ++attempt) {
            if (!has_rounds_left()) break;
            uint own = claim(i, usable, j);
            full = own == INVALID_INDEX;
            if (full) break;
            uint other = claim(j, other_usable, i);
            if (other == INVALID_INDEX) {
                atomicExchange(partner[slot_idx(terms.table, own, i)], INVALID_INDEX);
                continue;
            }
            float rest_m = rest_length_of(terms, d2);
            write_bond(slot_idx(terms.table, own, i), rest_m);
            write_bond(slot_idx(terms.table, other, j), rest_m);
            ++made;
            break;
        }
    }
    if (made > 0u) atomicAdd(progress[round], made);
}
