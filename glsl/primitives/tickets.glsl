// Shared part of single-pass kernels: tickets, and the publication of a tile's sum.
//
// Tiles are numbered by ticket, in the order in which groups start. A published word holds a flag in its
// upper two bits; flags only rise, so a late publication changes nothing. The including shader declares the
// buffer `look_back`, all 0 at the start of the pass.

// Number of polls of a tile before it is summed again.
layout(constant_id = 10) const uint SPINS = 4;
// For tests only: with k > 0, tiles k − 1, 2k − 1 … never publish anything, like a group that is never
// scheduled.
layout(constant_id = 11) const uint WITHHELD = 0;

const uint NOT_READY = 0u;
const uint AGGREGATE = 1u << 30u;
const uint INCLUSIVE_SUM = 2u << 30u;
const uint FLAG_BITS = 3u << 30u;

shared uint ticket_;

// Returns this group's tile, by the ticket counter at a word of `look_back`. To be called once, in uniform
// control flow.
uint take_ticket(uint word) {
    if (gl_LocalInvocationIndex == 0u) ticket_ = atomicAdd(look_back[word], 1u);
    barrier();
    return ticket_;
}

bool is_withheld(uint tile) { return WITHHELD != 0u && tile % WITHHELD == WITHHELD - 1u; }
