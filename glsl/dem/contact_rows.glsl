// Rows of stored contacts, in two buffers whose elements are no larger than a vec4: tangential springs with
// the time for which contacts have been slow, and words that hold the partner and, with rolling, the rolling
// spring. Rows of contact lists (dem/lists.glsl) hold the same springs; a bond is marked by its time.
//
// Needs the constant HAS_ROLLING.
#ifndef DEM_CONTACT_ROWS
#define DEM_CONTACT_ROWS
#include "dem/contact.glsl"

const uint CONTACT_WORDS = 1u + 3u * HAS_ROLLING;

// Packs the bond state of two grains and the partner into one word: for a bond, the upper two bits are 01.
// Ids of grains are below 2^30, and surfaces are numbered from 2^31 up; a bond to a surface is marked by its
// time.
uint partner_word(uint partner, uint bond_state) { return partner | bond_state << 30u; }

uint bond_state_of(uint word) { return word >> 30u == 1u ? BONDED : UNBONDED; }

uint partner_of(uint word) { return word & (word >> 30u == 1u ? 0x3fffffffu : 0xffffffffu); }

// Times that mark a contact that has ended and, in contact lists and for surfaces, a bond.
const float IS_ENDED = -1.0;
const float IS_BONDED = -2.0;

#endif
