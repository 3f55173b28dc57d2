// Rows of neighbours of the particles of one phase (list_neighbours.comp), a Verlet list with a skin: flags
// and rows in one buffer, since solve_solid has no binding left for a second.
//   rows[f], f < ROW_FLAGS             flag f: 1 if at that time of the step a particle is farther from where
//                                      it was listed than half the skin
//   rows[ROW_FLAGS + w · stride + i]   word w of the row of particle i
// Word 0 is the number of neighbours of the particle's phase, above 16 bits that of all entries, which follow
// from word 1 on: neighbours of its phase, then those of the other phase or, of one phase, images. Of two
// phases, the last word is the cell of the particle. An entry is the index of a particle and, above 26 bits,
// the faces that reflect it, two bits an axis.
#ifndef PBD_NEIGHBOUR_ROWS
#define PBD_NEIGHBOUR_ROWS

// Flag of the time after the last correction, or of all times.
const uint MOVED_IN_STEP = 0u;
// Flag of the time at which neighbours were listed; those of the times after each correction follow.
const uint FIRST_MOVED = 1u;
// One for each of a thousand iterations, and the two above.
const uint ROW_FLAGS = 1024u;

// Word 0 of a particle with more neighbours than slots.
const uint ROW_TOO_SHORT = 0xffffffffu;

const uint ROW_INDEX_BITS = 26u;

// Returns the distance between words of a row, given the length of the buffer.
uint row_stride(uint n_words, uint row_words) { return (n_words - ROW_FLAGS) / max(row_words, 1u); }

uint row_entry(uint j, uvec3 sides) {
    return j | ((sides.x | sides.y << 2 | sides.z << 4) << ROW_INDEX_BITS);
}

uint row_particle(uint entry) { return entry & ((1u << ROW_INDEX_BITS) - 1u); }

uvec3 row_sides(uint entry) { return (uvec3(entry) >> (ROW_INDEX_BITS + uvec3(0u, 2u, 4u))) & 3u; }

// Returns true if a particle is too far from where it was listed, or nowhere. The square of the distance in h
// that it may move is less than that of half the skin.
bool is_beyond_skin(vec3 x, vec3 listed_x, float inverse_h, float max_moved_q2) {
    vec3 moved_h = (x - listed_x) * inverse_h;
    return !(dot(moved_h, moved_h) < max_moved_q2);
}

#endif
