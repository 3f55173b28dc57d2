// Partners of contacts: a grain by its id, or the walls of the domain, bodies, and pieces of slabs.
#ifndef DEM_PARTNERS
#define DEM_PARTNERS

const uint FIRST_WALL = 0x80000000u;
const uint FIRST_BODY = FIRST_WALL + 6u;
const uint FIRST_PIECE = 0xc0000000u;

const float FAR_M = 1.0e30;

// Returns the surface of a wall: (normal into the domain, distance); far away where a body is the wall.
vec4 wall(DemTerms t, uint number, vec3 x) {
    uint axis = number % 3u;
    vec3 normal = vec3(0.0);
    normal[axis] = number < 3u ? 1.0 : -1.0;
    float distance = number < 3u ? x[axis] - t.domain_min_m[axis] : t.domain_max_m[axis] - x[axis];
    return vec4(normal, (t.walls_that_are_bodies >> number & 1u) != 0u ? FAR_M : distance);
}

#endif
