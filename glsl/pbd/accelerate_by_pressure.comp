#version 460
// Computes the change of velocities by the pressure, in h/Δt:
//   a_i = Σ_j (λ_i + λ_j) h∇V W(x_ij) + λ_i h∇(share of walls),
// with the images of neighbours behind faces of the domain if HAS_IMAGES, what contact with a body adds
// (compute_boundary_density.comp), and what faces of the domain stop: pressure that pushed particles into
// bodies or walls would leave their neighbours too dense. With IS_LAST adds a, without contact and faces, to
// velocities; λ is then that of the last update (update_pressure.comp), otherwise its extrapolation.
// Particles in pipes of emitters keep their velocities.
//
// Bytes: 52 a particle (x and λ 16, velocity 12, key 4, row 4, out 12; bodies 32 more) plus rows and
// neighbours from cache. Sums run in sorted order.
// Elements: acceleration = threads * (1 - IS_LAST), multiplier = threads * IS_LAST.
// Elements: held = threads * HAS_EMITTERS.
// Elements: contact = threads * HAS_BODIES * (1 - IS_LAST).
// Work: 11 flop per listed_neighbour, 18 flop per near_neighbour.
// Work: 20 flop per listed_image, 18 flop per near_image.
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
layout(constant_id = 5) const uint IS_LAST = 0;
layout(constant_id = 6) const uint HAS_EMITTERS = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 4) readonly buffer Multiplier { float multiplier[]; };
layout(scalar, binding = 5) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 6) writeonly buffer Acceleration { vec3 acceleration[]; };
layout(scalar, binding = 7) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 8) readonly buffer Rows { uint rows[]; };
layout(scalar, binding = 9) readonly buffer Contact { vec4 contact[]; };
layout(scalar, binding = 10) readonly buffer Held { uint held[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    Walls walls;
    float support_m;
    float volume_h3;
    float dt_s;
};
#include "pbd/neighbours.glsl"

// Returns x and λ of a particle.
vec4 at(uint j) {
    vec4 own = constraint[j];
    if (IS_LAST != 0u) own.w = multiplier[j];
    return own;
}

// Returns the share of a neighbour at an offset in h, or of its image, over its scale.
vec3 share_of(float lambda, vec3 offset, float q2) {
    float q = sqrt(q2);
    return -(q > 0.0 ? lambda * kernel_slope_shape(q) / q : 0.0) * offset;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (HAS_EMITTERS != 0u && held[i] != 0u) {
        if (IS_LAST == 0u) acceleration[i] = vec3(0.0);
        return;
    }
    vec4 own = at(i);
    uvec3 home = home_of(grid, key[i]);
    float inverse_h = 1.0 / support_m;
    vec3 sum = vec3(0.0);
    Row row = row_of(i, MOVED_IN_STEP);
    FOR_EACH_NEIGHBOUR(row, row.own, cell_start, grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec4 other = at(j);
        vec3 offset = (own.xyz - other.xyz) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 < 1.0 && j != i) sum += share_of(own.w + other.w, offset, q2);
    }
    uint n_places = HAS_IMAGES != 0u ? image_places(row, grid, walls.domain_max_m, home) : 0u;
    [[dont_unroll]] for (uint place = 1u; place < n_places; ++place) {
        Image image = image_place(row, grid, walls.domain_max_m, PERIODIC, home, place);
        FOR_EACH_NEIGHBOUR_IN(row, row.other, cell_start, grid, image.cells, k) {
            uint entry = NEIGHBOUR_AT(row, k);
            uvec3 sides = image_sides(row, image, entry);
            Reflection reflection = reflection_at(walls.domain_min_m, walls.domain_max_m, PERIODIC, sides);
            vec4 other = at(image_particle(row, entry));
            vec3 offset = offset_from(reflection, inverse_h, own.xyz, other.xyz);
            float q2 = dot(offset, offset);
            if (q2 < 1.0) sum += share_of(own.w + other.w, offset, q2);
        }
    }
    vec4 of_bodies = HAS_BODIES != 0u ? boundary_density[i] : vec4(0.0);
    WallTerm wall = density_term(walls, own.xyz, support_m, HAS_IMAGES != 0u, of_bodies);
    vec3 total = kernel_slope_scale() * volume_h3 * sum + own.w * wall.gradient_h;
    if (IS_LAST != 0u) {
        velocity[i] += support_m / dt_s * total;
        return;
    }
    vec3 v = velocity[i];
    if (HAS_BODIES != 0u && contact[i] != vec4(0.0)) {
        vec4 least = contact[i];
        float missing_m_s = least.w - dot(least.xyz, v + support_m / dt_s * total);
        total += dt_s * inverse_h * max(missing_m_s, 0.0) * least.xyz;
    }
    acceleration[i] = total + inverse_h * stopped_m(walls, PERIODIC, own.xyz, dt_s * v + support_m * total);
}
