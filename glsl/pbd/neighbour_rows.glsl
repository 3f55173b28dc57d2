// Rows of neighbours of particles (list_neighbours.comp): of each row, the number of neighbours, and above 16
// bits that with their images, which follow. An entry is the index of a particle and, above 26 bits, the
// faces that reflect it, two bits an axis.
#ifndef PBD_NEIGHBOUR_ROWS
#define PBD_NEIGHBOUR_ROWS

// Flags in has_moved: whether a particle has moved too far in any iteration of the step, and before the first
// iteration; those of the others follow.
const uint MOVED_IN_STEP = 0u;
const uint FIRST_MOVED = 1u;

// Number of flags in rows that are one buffer (snow/rows.glsl).
const uint JOINT_FLAGS = 32u;

// Row of a particle with more neighbours than slots.
const uint ROW_TOO_SHORT = 0xffffffffu;

const uint ROW_INDEX_BITS = 26u;

uint row_entry(uint j, uvec3 sides) {
    return j | ((sides.x | sides.y << 2 | sides.z << 4) << ROW_INDEX_BITS);
}

uint row_particle(uint entry) { return entry & ((1u << ROW_INDEX_BITS) - 1u); }

uvec3 row_sides(uint entry) { return (uvec3(entry) >> (ROW_INDEX_BITS + uvec3(0u, 2u, 4u))) & 3u; }

#endif
