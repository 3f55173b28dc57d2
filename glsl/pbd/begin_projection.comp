#version 460
// Begins the projection of velocities to those that keep the density, at the positions x of the start of the
// step: predicts the density constraint of each particle i to the first order (Ihmsen2014 eq 4 to 6),
//   C_i = κ (ρ_i/ρ₀ − 1) + Δt/h ( Σ_j h∇V W(x_ij)·(v_i − v_j) + h∇(share of walls)·(v_i − v_wall) ),
// with the share κ of a difference from the rest density that a step takes back:
//   of an excess e = ρ_i/ρ₀ − 1 the share max(κ₊ max(1, 0.025/e), Δt u_i/(10 h e)), at most 1: all of a large
//     one in one step would give particles the speed h e/Δt, and energy with it, the more the shorter the
//     step is. Where neighbours approach or leave each other at the speed u_i, as in an impact, a tenth of
//     it may be that speed: u_i² = Σ_j W (v_ij·x̂_ij)²/Σ_j W;
//   κ₋ of a deficit within the fluid, so that its particles do not gather while their density allows it, and
//     all of it at a free surface, whose particles may meet others;
// computes what a unit of its own multiplier changes of it, a_ii = |Σ_j ∇_i C|² + Σ_j |∇_j C|² + ε. The
// multiplier λ ≤ 0 is the pressure: velocities change by h/Δt a_i with a_i = Σ_j (λ_i + λ_j) h∇V W(x_ij) +
// λ_i h∇(share of walls), so that impulses act along the offsets of the positions that velocities move from,
// and x × v is conserved to rounding.
//
// The motion of a step, Δt u_i/h, is its measure for the tolerance of the solve (check_density.comp).
//
// With HAS_IMAGES images of neighbours behind faces of the domain are neighbours with the mirrored velocity.
// The solve begins from the multipliers of the last step, all of them: its error has both signs where λ < 0.
// Bytes: 92 a particle (position 12, velocity 12, key 4, λ 4, row 4, out 16 + 8 + 4 + 4; bodies 20 more) plus
// rows and neighbours from cache. Sums run in sorted order.
// Elements: held = threads * HAS_EMITTERS.
// Work: 11 flop per listed_neighbour, 33 flop per near_neighbour.
// Work: 20 flop per listed_image, 36 flop per near_image.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
// KERNEL_CUBIC_SPLINE or KERNEL_POLY6_SPIKY.
layout(constant_id = 4) const uint SMOOTHING_KERNEL = 0;
#define HAS_SMOOTHING_KERNELS
#include "grid/grid.glsl"
#include "pbd/walls.glsl"

layout(constant_id = 1) const uint HAS_BODIES = 0;
layout(constant_id = 2) const uint HAS_IMAGES = 0;
// Periodic axes, a bit each.
layout(constant_id = 3) const uint PERIODIC = 0;
layout(constant_id = 5) const uint HAS_EMITTERS = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 5) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
// h times the gradient of the boundary density times the velocity of bodies.
layout(scalar, binding = 6) readonly buffer BoundaryRate { float boundary_rate_m_s[]; };
layout(scalar, binding = 7) readonly buffer Multiplier { float multiplier[]; };
layout(scalar, binding = 8) writeonly buffer Constraint { vec4 constraint[]; };
// C and 1/a_ii.
layout(scalar, binding = 9) writeonly buffer Source { vec2 source[]; };
layout(scalar, binding = 10) writeonly buffer Density { float density[]; };
layout(scalar, binding = 11) readonly buffer Rows { uint rows[]; };
layout(scalar, binding = 12) writeonly buffer Motion { float motion[]; };
// 1 for particles in the pipes of emitters, which have no pressure.
layout(scalar, binding = 13) readonly buffer Held { uint held[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    Walls walls;
    float support_m;
    float volume_h3;
    float rest_density_kg_m3;
    float relaxation;
    float dt_s;
    float excess_share;
    float deficit_share;
};
#include "pbd/neighbours.glsl"

// Excess of density that is taken back at the speed of a larger one.
const float SMALL_EXCESS = 0.025;
// Density over rest density up to which a particle is at a free surface, and from which it is within the
// fluid. A particle of a plane surface of a cubic lattice has 0.85.
const float SURFACE_RATIO = 0.7;
const float BULK_RATIO = 0.9;

// Speed at which an excess is taken back, over that at which neighbours approach or leave.
const float SPEED_RATIO = 0.1;

// Returns what a step takes back of the difference of a density over rest density from 1, where neighbours
// move by a distance in h in the step.
float taken_back(float ratio, float motion_h) {
    float excess = ratio - 1.0;
    if (excess > 0.0)
        return min(excess, max(excess_share * max(excess, SMALL_EXCESS), SPEED_RATIO * motion_h));
    return mix(1.0, deficit_share, smoothstep(SURFACE_RATIO, BULK_RATIO, ratio)) * excess;
}

struct Sums {
    // Σ V W over V and the scale of the kernel.
    float ratio;
    // Σ_j |∇_j C|² and ∇_i C, in 1/h.
    float squares;
    vec3 gradient;
    // Σ h∇V W·(v_i − v_j) in m/s.
    float rate_m_s;
    // Σ W ((v_i − v_j)·x̂_ij)² over the scale of the kernel, in m²/s².
    float squared_speed;
};

// Adds a neighbour at an offset in h, or its image, and the velocity relative to it.
void add_neighbour(inout Sums sums, vec3 offset, float q2, vec3 relative_m_s) {
    float q = sqrt(q2);
    float shape = kernel_shape(q);
    sums.ratio += shape;
    float slope = kernel_slope_scale() * volume_h3 * kernel_slope_shape(q);
    sums.squares += slope * slope;
    // Coincident particles have no direction and equal sums; only different velocities separate them.
    float inverse_q = q > 0.0 ? 1.0 / q : 0.0;
    float leaving_m_s = inverse_q * dot(offset, relative_m_s);
    sums.gradient -= slope * inverse_q * offset;
    sums.rate_m_s -= slope * leaving_m_s;
    sums.squared_speed += shape * leaving_m_s * leaving_m_s;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = position[i];
    vec3 v = velocity[i];
    uvec3 home = home_of(grid, key[i]);
    float inverse_h = 1.0 / support_m;
    Sums sums = Sums(kernel_shape(0.0), 0.0, vec3(0.0), 0.0, 0.0);
    Row row = row_of(i, MOVED_IN_STEP);
    FOR_EACH_NEIGHBOUR(row, row.own, cell_start, grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec3 offset = (x - position[j]) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 < 1.0 && j != i) add_neighbour(sums, offset, q2, v - velocity[j]);
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
            if (q2 < 1.0) add_neighbour(sums, offset, q2, v - reflection.sign * velocity[j]);
        }
    }
    vec4 of_bodies = HAS_BODIES != 0u ? boundary_density[i] : vec4(0.0);
    WallTerm wall = density_term(walls, x, support_m, HAS_IMAGES != 0u, of_bodies);
    float rate_m_s = sums.rate_m_s + dot(wall.gradient_h, v);
    if (of_bodies.w > 0.0) rate_m_s -= domain_term(walls, x, support_m).open * boundary_rate_m_s[i];
    float ratio = kernel_scale() * volume_h3 * sums.ratio + (1.0 - wall.open);
    vec3 gradient = sums.gradient + wall.gradient_h;
    float motion_h = dt_s * inverse_h * sqrt(sums.squared_speed / sums.ratio);
    constraint[i] = vec4(x, multiplier[i]);
    bool is_held = HAS_EMITTERS != 0u && held[i] != 0u;
    source[i] = is_held ? vec2(0.0)
                        : vec2(taken_back(ratio, motion_h) + dt_s * inverse_h * rate_m_s,
                               1.0 / (dot(gradient, gradient) + sums.squares + relaxation));
    density[i] = ratio * rest_density_kg_m3;
    motion[i] = motion_h;
}
