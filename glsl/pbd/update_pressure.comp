#version 460
// Updates the pressure by one step of an accelerated projected gradient, with the diagonal of the matrix as
// the metric (Nesterov1983; Mazhar2015 for contacts): with the extrapolated pressure y and the change of
// velocities a by it,
//   r_i = C_i + Σ_j h∇V W(x_ij)·(a_i − a_j) + h∇(share of walls)·a_i,
//   λ_i ← min(y_i − ω r_i/a_ii, 0),   y_i ← min(λ_i + β (λ_i − the λ_i before), 0).
// The pressure pushes only: at the solution r ≤ 0, λ ≤ 0 and r λ = 0. The error is |r| where y < 0, else
// max(r, 0).
//
// Bytes: 76 a particle (position 12, a 12, C and a_ii 8, key 4, row 4, λ 8, y 4 + 16, error 4; bodies 16
// more) plus rows and neighbours from cache. Sums run in sorted order.
// Work: 11 flop per listed_neighbour, 20 flop per near_neighbour.
// Work: 20 flop per listed_image, 23 flop per near_image.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
// KERNEL_CUBIC_SPLINE or KERNEL_POLY6_SPIKY.
layout(constant_id = 4) const uint SMOOTHING_KERNEL = 0;
#define HAS_SMOOTHING_KERNELS
#include "grid/grid.glsl"
#include "pbd/walls.glsl"
#include "pbd/density_status.glsl"

layout(constant_id = 1) const uint HAS_BODIES = 0;
layout(constant_id = 2) const uint HAS_IMAGES = 0;
// Periodic axes, a bit each.
layout(constant_id = 3) const uint PERIODIC = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer Acceleration { vec3 acceleration[]; };
layout(scalar, binding = 5) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 6) readonly buffer Source { vec2 source[]; };
layout(scalar, binding = 7) readonly buffer Momentum { SolveMomentum momentum[]; };
layout(scalar, binding = 8) buffer Multiplier { float multiplier[]; };
layout(scalar, binding = 9) buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 10) writeonly buffer Excess { float excess[]; };
layout(scalar, binding = 11) readonly buffer Rows { uint rows[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    Walls walls;
    float support_m;
    float volume_h3;
    float over_relaxation;
};
#include "pbd/neighbours.glsl"

// Returns the share in r of a neighbour at an offset in h, or of its image, over its scale.
float share_of(vec3 offset, float q2, vec3 relative) {
    float q = sqrt(q2);
    return -(q > 0.0 ? kernel_slope_shape(q) / q : 0.0) * dot(offset, relative);
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = position[i];
    vec3 a = acceleration[i];
    uvec3 home = home_of(grid, key[i]);
    float inverse_h = 1.0 / support_m;
    float sum = 0.0;
    Row row = row_of(i, MOVED_IN_STEP);
    FOR_EACH_NEIGHBOUR(row, row.own, cell_start, grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec3 offset = (x - position[j]) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 < 1.0 && j != i) sum += share_of(offset, q2, a - acceleration[j]);
    }
    uint n_places = HAS_IMAGES != 0u ? image_places(row, grid, walls.domain_max_m, home) : 0u;
    [[dont_unroll]] for (uint place = 1u; place < n_places; ++place) {
        Image image = image_place(row, grid, walls.domain_max_m, PERIODIC, home, place);
        FOR_EACH_NEIGHBOUR_IN(row, row.other, cell_start, grid, image.cells, k) {
            uint entry = NEIGHBOUR_AT(row, k);
            uint j = image_particle(row, entry);
            uvec3 sides = image_sides(row, image, entry);
            Reflection reflection = reflection_at(walls.domain_min_m, walls.domain_max_m, PERIODIC, sides);
            vec3 offset = offset_from(reflection, inverse_h, x, position[j]);
            float q2 = dot(offset, offset);
            if (q2 < 1.0) sum += share_of(offset, q2, a - reflection.sign * acceleration[j]);
        }
    }
    vec4 of_bodies = HAS_BODIES != 0u ? boundary_density[i] : vec4(0.0);
    WallTerm wall = density_term(walls, x, support_m, HAS_IMAGES != 0u, of_bodies);
    vec2 own = source[i];
    float r = own.x + kernel_slope_scale() * volume_h3 * sum + dot(wall.gradient_h, a);
    float extrapolated = constraint[i].w;
    float before = multiplier[i];
    float lambda = min(extrapolated - over_relaxation * r * own.y, 0.0);
    multiplier[i] = lambda;
    constraint[i] = vec4(x, min(lambda + momentum[0].share * (lambda - before), 0.0));
    // Particles in pipes of emitters (begin_projection.comp) have no constraint.
    excess[i] = own.y == 0.0 ? 0.0 : extrapolated < 0.0 ? abs(r) : max(r, 0.0);
}
