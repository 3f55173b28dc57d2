// Contact lists of grains (Verlet lists): each grain has a range of consecutive rows, one for everything
// within its reach and a skin when the lists were built, in ascending order of the partner: ids of grains,
// then numbers of surfaces. So the order in which forces are summed does not depend on when that was. A row
// holds the history of its contact, if there is one, where it stays until the lists are built again.
#ifndef DEM_LISTS
#define DEM_LISTS

struct DemLists {
    // 1 if something has moved so far that the lists must be built before the next step.
    uint is_stale;
    // Skin with which to build lists, and that of the current ones: 0 if they would not fit their capacity.
    float skin_m;
    float used_skin_m;
    // Number of times that lists were built.
    uint n_built;
};

// A row's first word: the number of a surface or, with the upper bit clear, the index of a grain and whether
// its id is above the own one. KEPT marks a contact with a history.
const uint KEPT = 1u << 29u;
const uint IS_HIGHER = 1u << 30u;
const uint INDEX_BITS = KEPT - 1u;

// Share of the skin by which a grain or a piece may move: two of them approach each other by twice that. The
// rest covers the rounding of positions.
const float MAX_SHIFT = 0.49;

// Share of the skin by which the check for surfaces that are not listed exceeds the reach of contacts: covers
// the rounding of the time at which bodies move.
const float SURFACE_MARGIN = 0.125;

#endif
