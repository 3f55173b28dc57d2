// Rows of neighbours of the particles of one phase (list_neighbours.comp), in one buffer, since solve_solid
// has no binding left for a second. With the capacity as stride:
//   rows[slot · stride + i]             index of a neighbour of i: those of its phase, then of the other
//   rows[ROW_SLOTS · stride + i]        number of those of its phase, above 16 bits that of all;
//                                       ROW_TOO_SHORT if there are more than slots
//   rows[(ROW_SLOTS + 1) · stride + i]  cell of i
//   rows[(ROW_SLOTS + 2) · stride + f]  flag f of JOINT_FLAGS: 1 if at that time of the step a particle of
//                                       either phase is farther from where it was listed than half the margin
// Flag MOVED_IN_STEP is that of the time after the last correction, which pbd/smooth_velocity reads,
// FIRST_MOVED that of the list; those of the times between them follow.
#ifndef SNOW_ROWS
#define SNOW_ROWS
#include "pbd/neighbour_rows.glsl"

// 0 without rows.
layout(constant_id = 10) const uint ROW_SLOTS = 64;

// Returns the distance between slots, given the length of the buffer.
uint stride_of(uint n_words) { return (n_words - JOINT_FLAGS) / (ROW_SLOTS + 2u); }

uint lengths_at(uint stride, uint i) { return ROW_SLOTS * stride + i; }

uint cell_at(uint stride, uint i) { return (ROW_SLOTS + 1u) * stride + i; }

uint flag_at(uint stride, uint flag) { return (ROW_SLOTS + 2u) * stride + flag; }

#endif
