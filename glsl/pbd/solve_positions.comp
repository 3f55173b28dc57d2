#version 460
// Applies one Jacobi correction to predicted positions:
//   Δx_i = ω h ( Σ_j (λ_i + λ_j + s_corr) h∇V W(x_ij) + λ_i h∇(share of walls) )             (Chen2021 eq 5.18, 5.27)
//   s_corr = −k (W(x_ij)/W(Δq))ⁿ                                                              (Huang2016 eq 2.21)
// then confines them by the walls, and adds λ_i to its sum over the step. Δx must stay along the gradient of
// the constraints: the share of the kernel that a wall cuts off contributes with λ_i alone (counting it twice
// adds energy: particles of a resting column then fluctuate at 0.25 m/s), while with HAS_IMAGES the images of
// neighbours behind faces of the domain are neighbours with the same λ.
//
// With GRADIENT_AT_START, ∇W is that at the start of the step, as in SHAKE (Ryckaert1977): forces act along
// the offsets of the positions that they move, x × v is conserved, and the step is a leapfrog. Neighbours are
// still those at x*, so that rows and cells give the same sum.
//
// x* is a compensated sum (Kahan1965): its residual holds the part below its ulp, for the next correction and
// for the velocity. Without it, both ends of a pair on different sides of a power of two would lose different
// parts of equal and opposite corrections, and momentum with them: a cube of 64 kg at rest about 0.5 m from
// the origin gained 0.46 kg m/s in 5 000 steps of 0.25 ms.
//
// Bytes: 80 a particle (constraint 16, key 4, λ 8, row 4 and 12, residual 24, 12 out; 12 more with
// GRADIENT_AT_START) plus rows and neighbours from cache. Sums run in sorted order.
// Work: 11 flop per listed_neighbour, 18 flop per near_neighbour.
// Work: 20 flop per listed_image, 18 flop per near_image.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
// KERNEL_CUBIC_SPLINE or KERNEL_POLY6_SPIKY.
layout(constant_id = 4) const uint SMOOTHING_KERNEL = 0;
#define HAS_SMOOTHING_KERNELS
#include "grid/grid.glsl"
#include "pbd/motion.glsl"
#include "pbd/walls.glsl"

layout(constant_id = 1) const uint HAS_BODIES = 0;
layout(constant_id = 2) const uint HAS_IMAGES = 0;
// Periodic axes, a bit each.
layout(constant_id = 3) const uint PERIODIC = 0;
// 1 if s_corr is not zero.
layout(constant_id = 5) const uint HAS_PRESSURE = 0;
layout(constant_id = 6) const uint GRADIENT_AT_START = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 4) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 5) writeonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 6) buffer Multiplier { float multiplier[]; };
layout(scalar, binding = 7) buffer Rows { uint rows[]; };
layout(scalar, binding = 8) readonly buffer Listed { vec3 listed[]; };
layout(scalar, binding = 9) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 10) buffer Residual { vec3 residual_m[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    Walls walls;
    float support_m;
    float volume_h3;
    float over_relaxation;
    float pressure_strength;
    float pressure_inverse_shape;
    uint pressure_exponent;
    // Square of the distance in h by which particles may have moved since they were listed.
    float max_moved_q2;
    // Flag in the rows, followed by that of the next iteration; INVALID_INDEX without rows.
    uint row_flag;
};
#include "pbd/neighbours.glsl"

// Returns the displacement of a particle by a neighbour at an offset in h, or by its image, over its scale.
vec3 correction_by(float lambda, vec3 offset) {
    float q = length(offset);
    if (HAS_PRESSURE != 0u)
        lambda -= artificial_pressure(q, pressure_strength, pressure_inverse_shape, pressure_exponent);
    return -(q > 0.0 ? lambda * kernel_slope_shape(q) / q : 0.0) * offset;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec4 own = constraint[i];
    vec3 start = GRADIENT_AT_START != 0u ? position[i] : vec3(0.0);
    uvec3 home = home_of(grid, key[i]);
    float inverse_h = 1.0 / support_m;
    vec3 correction = vec3(0.0);
    Row row = row_of(i, row_flag);
    FOR_EACH_NEIGHBOUR(row, row.own, cell_start, grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec4 other = constraint[j];
        vec3 offset = (own.xyz - other.xyz) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 >= 1.0 || j == i) continue;
        if (GRADIENT_AT_START != 0u) offset = (start - position[j]) * inverse_h;
        correction += correction_by(own.w + other.w, offset);
    }
    uint n_places = HAS_IMAGES != 0u ? image_places(row, grid, walls.domain_max_m, home) : 0u;
    [[dont_unroll]] for (uint place = 1u; place < n_places; ++place) {
        Image image = image_place(row, grid, walls.domain_max_m, PERIODIC, home, place);
        FOR_EACH_NEIGHBOUR_IN(row, row.other, cell_start, grid, image.cells, k) {
            uint entry = NEIGHBOUR_AT(row, k);
            uint j = image_particle(row, entry);
            uvec3 sides = image_sides(row, image, entry);
            Reflection reflection = reflection_at(walls.domain_min_m, walls.domain_max_m, PERIODIC, sides);
            vec4 other = constraint[j];
            vec3 offset = offset_from(reflection, inverse_h, own.xyz, other.xyz);
            float q2 = dot(offset, offset);
            if (q2 >= 1.0) continue;
            if (GRADIENT_AT_START != 0u) offset = offset_from(reflection, inverse_h, start, position[j]);
            correction += correction_by(own.w + other.w, offset);
        }
    }
    vec4 of_bodies = HAS_BODIES != 0u ? boundary_density[i] : vec4(0.0);
    WallTerm wall = density_term(walls, own.xyz, support_m, HAS_IMAGES != 0u, of_bodies);
    vec3 total = kernel_slope_scale() * volume_h3 * correction + own.w * wall.gradient_h;
    vec3 rest_m;
    vec3 free = added(own.xyz, residual_m[i], over_relaxation * support_m * total, rest_m);
    vec3 x = confine(walls, PERIODIC, free);
    residual_m[i] = residual_after(rest_m, free, x);
    predicted[i] = x;
    if (ROW_WORDS != 0u && row_flag != INVALID_INDEX &&
        (rows[row_flag] != 0u || is_beyond_skin(x, listed[i], inverse_h, max_moved_q2))) {
        atomicMax(rows[MOVED_IN_STEP], 1u);
        atomicMax(rows[row_flag + 1u], 1u);
    }
    multiplier[i] += own.w;
}
