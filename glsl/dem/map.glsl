// Map of a flow: the cells of a terrain, each centred on one of its heights. While a step is mapped, each
// cell holds two fixed-point sums (common/fixed.glsl) over the grains whose centres are over it, of their
// volumes in m³ and of volume times speed in m⁴/s; between steps both are 0.
#ifndef DEM_MAP
#define DEM_MAP

// Words of the sums of a cell: the volume, then the volume times the speed, two words each.
const uint MAP_WORDS = 4u;

// Volume of a ball in units of r³.
const float BALL_VOLUME = 4.18879020;

// Returns the number of the cell under a position, rows from the south; INVALID_INDEX off the grid, and for a
// position that is not finite.
uint map_cell(vec3 x_m, float cells_per_m, uvec2 n_cells) {
    precise vec2 scaled = x_m.xy * cells_per_m;
    precise vec2 place = floor(scaled + 0.5);
    bool is_inside = all(greaterThanEqual(place, vec2(0.0))) && all(lessThan(place, vec2(n_cells)));
    return is_inside ? uint(place.y) * n_cells.x + uint(place.x) : INVALID_INDEX;
}

#endif
