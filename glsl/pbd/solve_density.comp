#version 460
// Computes the density constraint and its multiplier for each particle i:
//   ρ_i/ρ₀ = Σ_j V W(x_ij) + share of walls                                     (Chen2021 eq 5.15)
//   C_i = max(ρ_i/ρ₀ − 1, 0)                                                    (Chen2021 eq 5.16, one-sided)
//   λ_i = −C_i / (|Σ_j ∇_i C|² + Σ_j |∇_j C|² + ε)                              (Chen2021 eq 5.17, 5.19; Macklin & Müller 2013)
// with gradients in units of 1/h, so that λ and ε are dimensionless: Δx = h² λ ∇C. V = m/ρ₀ is the volume of
// a particle.
//
// With IS_COMPLEMENTARY the solve iterates on the sum λ of a step, which is a pressure and must not pull: C
// is ρ/ρ₀ − 1 with its sign, and the increment is min(λ_i − C_i/(…), 0) − λ_i, so that a later iteration
// takes back what an earlier one pushed too far.
//
// The share of walls is the fraction of the kernel that they cut off or, with HAS_IMAGES, for faces of the
// domain the sum over the images of all neighbours, and of the particle itself, behind them.
//
// Writes (x*, λ or its increment) as one vec4, since the next pass reads both for every neighbour, and the
// error max(ρ/ρ₀ − 1, 0).
// Bytes: 48 a particle (predicted 12, key 4, λ 4, row 4, 16 + 4 + 4 out) plus rows and neighbours from cache.
// Sums run in sorted order.
// Work: 11 flop per listed_neighbour, 23 flop per near_neighbour.
// Work: 20 flop per listed_image, 23 flop per near_image.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
// KERNEL_CUBIC_SPLINE or KERNEL_POLY6_SPIKY.
layout(constant_id = 5) const uint SMOOTHING_KERNEL = 0;
#define HAS_SMOOTHING_KERNELS
#include "grid/grid.glsl"
#include "pbd/walls.glsl"

layout(constant_id = 1) const uint HAS_BODIES = 0;
layout(constant_id = 2) const uint IS_COMPLEMENTARY = 0;
layout(constant_id = 3) const uint HAS_IMAGES = 0;
// Periodic axes, a bit each.
layout(constant_id = 4) const uint PERIODIC = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 5) writeonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 6) writeonly buffer Density { float density[]; };
layout(scalar, binding = 7) readonly buffer Multiplier { float multiplier[]; };
layout(scalar, binding = 8) writeonly buffer Excess { float excess[]; };
layout(scalar, binding = 9) readonly buffer Rows { uint rows[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    Walls walls;
    float support_m;
    float volume_h3;
    float rest_density_kg_m3;
    float relaxation;
    // Flag in the rows, or INVALID_INDEX where there are none.
    uint row_flag;
};
#include "pbd/neighbours.glsl"

struct Sums {
    // Σ V W over V and the scale of the kernel.
    float ratio;
    // Σ_j |∇_j C|² and ∇_i C, in 1/h.
    float squares;
    vec3 gradient;
};

// Adds a neighbour at an offset in h, or its image.
void add_neighbour(inout Sums sums, vec3 offset, float q2) {
    float q = sqrt(q2);
    sums.ratio += kernel_shape(q);
    float slope = kernel_slope_scale() * volume_h3 * kernel_slope_shape(q);
    sums.squares += slope * slope;
    // Coincident particles have no direction and equal sums; only different velocities separate them.
    sums.gradient -= (q > 0.0 ? slope / q : 0.0) * offset;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    uvec3 home = home_of(grid, key[i]);
    float inverse_h = 1.0 / support_m;
    Sums sums = Sums(kernel_shape(0.0), 0.0, vec3(0.0));
    Row row = row_of(i, row_flag);
    FOR_EACH_NEIGHBOUR(row, row.own, cell_start, grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec3 offset = (x - predicted[j]) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 < 1.0 && j != i) add_neighbour(sums, offset, q2);
    }
    uint n_places = HAS_IMAGES != 0u ? image_places(row, grid, walls.domain_max_m, home) : 0u;
    [[dont_unroll]] for (uint place = 1u; place < n_places; ++place) {
        Image image = image_place(row, grid, walls.domain_max_m, PERIODIC, home, place);
        FOR_EACH_NEIGHBOUR_IN(row, row.other, cell_start, grid, image.cells, k) {
            uint entry = NEIGHBOUR_AT(row, k);
            uvec3 sides = image_sides(row, image, entry);
            Reflection reflection = reflection_at(walls.domain_min_m, walls.domain_max_m, PERIODIC, sides);
            vec3 offset = offset_from(reflection, inverse_h, x, predicted[image_particle(row, entry)]);
            float q2 = dot(offset, offset);
            if (q2 < 1.0) add_neighbour(sums, offset, q2);
        }
    }
    vec4 of_bodies = HAS_BODIES != 0u ? boundary_density[i] : vec4(0.0);
    WallTerm wall = density_term(walls, x, support_m, HAS_IMAGES != 0u, of_bodies);
    float ratio = kernel_scale() * volume_h3 * sums.ratio + (1.0 - wall.open);
    vec3 gradient = sums.gradient + wall.gradient_h;
    float above = max(ratio - 1.0, 0.0);
    float inverse_mass = dot(gradient, gradient) + sums.squares + relaxation;
    float increment = -above / inverse_mass;
    if (IS_COMPLEMENTARY != 0u)
        increment = min(multiplier[i] - (ratio - 1.0) / inverse_mass, 0.0) - multiplier[i];
    constraint[i] = vec4(x, increment);
    excess[i] = above;
    density[i] = ratio * rest_density_kg_m3;
}
