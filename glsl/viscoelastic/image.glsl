// Adds an image of a particle, for kernels that define `Sums`, `add_neighbour` and the buffers `predicted`
// and `rows`.
#include "pbd/neighbours.glsl"

void add_image(inout Sums sums, uint j, uvec3 sides, vec3 x, float inverse_h) {
    Reflection at = reflection_at(terms[0].domain_min_m, terms[0].domain_max_m, terms[0].periodic, sides);
    vec3 offset = -offset_from(at, inverse_h, x, predicted[j]);
    float q2 = dot(offset, offset);
    if (q2 < 1.0 && q2 > 0.0) add_neighbour(sums, j, offset, sqrt(q2), sides);
}
