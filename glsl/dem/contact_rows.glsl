// Rows of contacts, in two buffers, of which no element is larger than a vec4: springs along surfaces with
// the time that contacts have been slow, and so many words that say with whom a contact is (INVALID_INDEX: it
// ended) and, with rolling, hold the spring against it.
//
// Needs the constant HAS_ROLLING.
#ifndef DEM_CONTACT_ROWS
#define DEM_CONTACT_ROWS

const uint CONTACT_WORDS = 1u + 3u * HAS_ROLLING;

#endif
