// Bonds between pairs of particles. Each is stored twice, once in the row of either end, with the same bits
// in both.
//
// A row has one entry per slot of the table: a partner, a rest length and words of state. Slot s of particle
// i is at s · stride + i. Threads that walk their own rows read neighbouring words, a walk that stops after
// the last bond leaves the rest of the table untouched, and a table with more slots only extends each column
// at its end. Occupied slots come first; the others hold INVALID_INDEX.

struct BondTable {
    // Number of rows.
    uint stride;
    // Maximum number of bonds in a row.
    uint slots;
    // State words per bond.
    uint state_columns;
};

// Conditions for a bond: ends at most radius_m apart, each with fewer bonds than its limit. A limit of 0
// makes a particle ineligible; a limit above max_bonds counts as max_bonds.
struct BondTerms {
    BondTable table;
    float radius_m;
    uint max_bonds;
};

uint slot_idx(BondTable table, uint slot, uint particle) { return slot * table.stride + particle; }

// Index of a state word of the bond at `at`.
uint state_idx(BondTable table, uint column, uint at) { return column * table.slots * table.stride + at; }

// Loops `at` over the occupied slots of particle i, in order. Needs the buffer `degree`.
#define FOR_EACH_BOND(table, i, at) \
    for (uint slot_ = 0u, at = (i); slot_ < degree[i]; ++slot_, at += (table).stride)

// Squared distance with the same bits at both ends: squares do not depend on the sign of the offset, and no
// operation is contracted.
float distance2_m2(vec3 a_m, vec3 b_m) {
    precise vec3 offset = a_m - b_m;
    precise float squared = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
    return squared;
}
