// Rows of neighbours of the particles of one phase (list_neighbours.comp), in one buffer `rows`, which the
// kernel declares:
//   rows[slot · ROW_STRIDE + i]               index of a neighbour of i: those of its phase, then of the other
//   rows[ROW_SLOTS · ROW_STRIDE + i]          number of those of its phase, above 16 bits that of all; all
//                                             bits are set if there are more than slots
//   rows[(ROW_SLOTS + 1) · ROW_STRIDE + i]    cell of i
//   rows[(ROW_SLOTS + 2) · ROW_STRIDE + f]    flag f: 1 if at that time of the step a particle of either phase
//                                             is farther from where it was listed than half the margin allows
// One buffer because solve_solid has no binding left for a second.
#ifndef SNOW_ROWS
#define SNOW_ROWS

// 0 without rows.
layout(constant_id = 10) const uint ROW_SLOTS = 64;
layout(constant_id = 11) const uint ROW_STRIDE = 256;

// Row of a particle with more neighbours than slots.
const uint ROW_TOO_SHORT = 0xffffffffu;

// Flag of the time after the last correction of a step, which pbd/smooth_velocity reads; those of the times
// before it follow, the first of that at which rows are listed.
const uint FLAG_AT_END = 0u;
const uint FLAG_AS_LISTED = 1u;

uint lengths_at(uint i) { return ROW_SLOTS * ROW_STRIDE + i; }

uint cell_at(uint i) { return (ROW_SLOTS + 1u) * ROW_STRIDE + i; }

uint flag_at(uint flag) { return (ROW_SLOTS + 2u) * ROW_STRIDE + flag; }

#endif
