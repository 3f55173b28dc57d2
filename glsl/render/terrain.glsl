// Parameters that the two stages of `terrain` share.
layout(scalar, push_constant) uniform Params {
    View view;
    Fog fog;
    // Number of heights along x and y, and their distance in m.
    uvec2 n;
    float cell_m;
    // The chunk: its first height, the number of cells per side of a quad, and the neighbours with quads
    // twice as large, as bits for those towards lower x, higher x, lower y and higher y.
    uvec2 first;
    uint stride;
    uint coarser;
    // Lowest and highest height of the terrain in m.
    float lowest_m;
    float highest_m;
};
