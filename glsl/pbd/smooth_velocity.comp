#version 460
// Applies XSPH and viscosity to velocities: neighbours damp the velocity at which they approach or separate,
// and walls, which are at rest, that along them:
//   v_i = u_i + c ( 3 Σ_j V W(x*_ij) e_ij e_ij·(u_j − u_i) − s · (wall fraction) u_i )
//       + ν̂ ( 5 Σ_j w_ij e_ij e_ij·(u_j − u_i) − Σ_faces s G(y) u_i ),  e_ij = x*_ij/|x*_ij|.
// Forces along the line between particles keep linear and angular momentum, and a rigid rotation. With the
// whole difference u_j − u_i in place of its part along e_ij (Chen2021 eq 5.20; Huang2016 eq 2.29, whose
// sign is reversed) a spinning body slows down. 3 is the inverse of the mean square of a direction's cosine,
// so that XSPH damps uncorrelated velocities as there.
//
// The second line is the viscous force in the form of Monaghan (2005, eq 8.8), η(∇²u + 2∇∇·u), whose stress
// is symmetric, with the weight w = (1 − q)(1 − q/2): on the cubic lattice with h = 2 d its sums are those of
// the integral and differ by 3 % between directions of shear (19 % with 1 − q, ∇²W of the viscosity kernel).
// 5 is the ratio of the mean squares of one and of the product of two cosines, and ν̂ = Δt ν a/h² with the a
// that makes the Laplacian of a quadratic field exact for the integral over neighbours. G is that integral
// over the images behind a wall, whose velocities are −u y′/y (Morris et al. 1997): no slip. s is 0 for slip
// walls and 1 for no-slip walls; behind a face, the share 1 − s of the mirror images of neighbours has their
// mirrored velocities. The drag of bodies is applied by apply_body_drag.
//
// Bytes: 44 a particle (x* 12, u 12, key 4, row 4, 12 out) plus rows and neighbours from cache. Sums run in
// sorted order.
// Work: 11 flop per listed_neighbour, 38 flop per near_neighbour.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
// KERNEL_CUBIC_SPLINE or KERNEL_POLY6_SPIKY.
layout(constant_id = 2) const uint SMOOTHING_KERNEL = 0;
#define HAS_SMOOTHING_KERNELS
#include "grid/grid.glsl"
#include "pbd/walls.glsl"

// 1 if faces of the domain have their own friction.
layout(constant_id = 1) const uint HAS_FACE_FRICTION = 0;
// 1 if walls have a drag by XSPH.
layout(constant_id = 3) const uint HAS_WALL_XSPH = 0;
layout(constant_id = 4) const uint HAS_IMAGES = 0;
// Periodic axes, a bit each.
layout(constant_id = 5) const uint PERIODIC = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 5) writeonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 6) readonly buffer Rows { uint rows[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    Walls walls;
    float support_m;
    float volume_h3;
    float xsph_viscosity;
    float wall_friction;
    // ν̂, and h³/V.
    float viscosity_share;
    float particles_h3;
    // Friction of the lower and of the upper faces of the domain, minus wall_friction.
    vec3 lower_friction;
    vec3 upper_friction;
};
#include "pbd/neighbours.glsl"

struct Sums {
    vec3 smoothing;
    vec3 viscous;
};

// Adds a neighbour at an offset in h, faster by `difference`. Particles in the same place have no line
// between them.
void add_neighbour(inout Sums sums, vec3 offset, float q2, vec3 difference) {
    if (q2 == 0.0) return;
    float q = sqrt(q2);
    vec3 along = (dot(offset, difference) / q2) * offset;
    sums.smoothing += kernel_shape(q) * along;
    sums.viscous += viscous_weight(q) * along;
}

// Adds the part of an image behind faces at an offset in h that slips, with the share of each face.
void add_image(inout Sums sums, uvec3 sides, vec3 sign, vec3 offset, vec3 v, vec3 u) {
    float q2 = dot(offset, offset);
    if (q2 >= 1.0 || q2 == 0.0) return;
    float share = 1.0;
    [[unroll]] for (int axis = 0; axis < 3; ++axis) {
        if (sides[axis] == 0u || bitfieldExtract(PERIODIC, axis, 1) != 0u) continue;
        share *= max(1.0 - wall_friction - (sides[axis] == 1u ? lower_friction : upper_friction)[axis], 0.0);
    }
    vec3 along = (dot(offset, sign * v - u) / q2) * offset;
    sums.viscous += share * viscous_weight(sqrt(q2)) * along;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    vec3 u = updated[i];
    float inverse_h = 1.0 / support_m;
    Sums sums = Sums(vec3(0.0), vec3(0.0));
    uvec3 home = home_of(grid, key[i]);
    Row row = row_of(i, MOVED_IN_STEP);
    FOR_EACH_NEIGHBOUR(row, row.own, cell_start, grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec3 offset = (x - predicted[j]) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 < 1.0 && j != i) add_neighbour(sums, offset, q2, updated[j] - u);
    }
    vec3 drag = vec3(0.0);
    if (HAS_WALL_XSPH != 0u) {
        drag = wall_friction * (1.0 - domain_term(walls, x, support_m).open) * u;
        if (HAS_FACE_FRICTION != 0u)
            drag += face_drag(walls, x, support_m, lower_friction, upper_friction) * u;
    }
    vec3 v = u + xsph_viscosity * (3.0 * kernel_scale() * volume_h3 * sums.smoothing - drag);
    // The branch is uniform; without viscosity the velocity keeps its bits.
    if (viscosity_share != 0.0) {
        vec3 lower = wall_friction + lower_friction;
        vec3 upper = wall_friction + upper_friction;
        bool slips = HAS_IMAGES != 0u && any(lessThan(min(lower, upper), vec3(1.0)));
        uint n_places = slips ? image_places(row, grid, walls.domain_max_m, home) : 0u;
        [[dont_unroll]] for (uint place = 1u; place < n_places; ++place) {
            Image image = image_place(row, grid, walls.domain_max_m, PERIODIC, home, place);
            FOR_EACH_NEIGHBOUR_IN(row, row.other, cell_start, grid, image.cells, k) {
                uint entry = NEIGHBOUR_AT(row, k);
                uint j = image_particle(row, entry);
                uvec3 sides = image_sides(row, image, entry);
                Reflection at = reflection_at(walls.domain_min_m, walls.domain_max_m, PERIODIC, sides);
                add_image(sums, sides, at.sign, offset_from(at, inverse_h, x, predicted[j]), updated[j], u);
            }
        }
        vec3 rate = viscous_wall_drag(walls, x, support_m, lower, upper);
        v += viscosity_share * (5.0 * sums.viscous - particles_h3 * rate * u);
    }
    velocity[i] = v;
}
