// Bonds between pairs of particles. Each is kept twice, once in the row of either end, with the same bits at both.
//
// A row has as many slots as the table: a partner, a rest length and words of state each. Slot s of particle i stands at
// s · stride + i. Threads that walk their own rows read neighbouring words, a walk that stops behind the last bond
// leaves the rest of the table untouched, and a table with more slots only adds to the end of each column. Occupied
// slots come first; the others hold INVALID_INDEX.

struct BondTable {
    // Particles that there are rows for.
    uint stride;
    // Bonds that a row holds at most.
    uint slots;
    // Words of state of a bond.
    uint state_columns;
};

// Which pairs may be bonded: at most radius_m apart, with fewer bonds than its limit at each end. A limit of 0 makes a
// particle ineligible, and none counts for more than max_bonds.
struct BondTerms {
    BondTable table;
    float radius_m;
    uint max_bonds;
};

uint slot_idx(BondTable table, uint slot, uint particle) { return slot * table.stride + particle; }

// Where a word of state of the bond at `at` stands.
uint state_idx(BondTable table, uint column, uint at) { return column * table.slots * table.stride + at; }

// Loops `at` over the occupied slots of particle i, in order. Needs the buffer `degree`.
#define FOR_EACH_BOND(table, i, at) \
    for (uint slot_ = 0u, at = (i); slot_ < degree[i]; ++slot_, at += (table).stride)

// The same bits whichever end asks: squares do not see the sign of the offset, and nothing is contracted.
float distance2_m2(vec3 a_m, vec3 b_m) {
    precise vec3 offset = a_m - b_m;
    precise float squared = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
    return squared;
}
