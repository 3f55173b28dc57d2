#version 460
// Applies XSPH and viscosity to velocities: neighbours damp the velocity at which they approach or separate,
// and walls, which are at rest, that along them:
//   v_i = u_i + c ( 3 Σ_j V W(x*_ij) e_ij e_ij·(u_j − u_i) − s · (wall fraction) u_i )
//       + ν̂ ( 5 Σ_j (1 − q_ij) e_ij e_ij·(u_j − u_i) − Σ_faces s G(y) u_i ),  e_ij = x*_ij/|x*_ij|.
// Forces along the line between particles keep linear and angular momentum, and a rigid rotation. With the
// whole difference u_j − u_i in place of its part along e_ij (Chen2021 eq 5.20; Huang2016 eq 2.29, whose
// sign is reversed) a spinning body slows down. 3 is the inverse of the mean square of a direction's cosine,
// so that XSPH damps uncorrelated velocities as there.
//
// The second line is the viscous force in the form of Monaghan (2005, eq 8.8), η(∇²u + 2∇∇·u), whose stress
// is symmetric: ∇²W of the viscosity kernel is proportional to 1 − q, 5 is the ratio of the mean squares of
// one and of the product of two cosines, and ν̂ = Δt ν a/h² with the a that makes the Laplacian of a
// quadratic field exact in the mean over the directions of the cubic lattice. G is the same sum over the
// images of the lattice behind the wall, whose velocities are −u y′/y (Morris et al. 1997): no slip. s is 0
// for slip walls and 1 for no-slip walls; the difference of a face's own s is weighted with the fraction
// that this face alone cuts off. The drag of bodies is applied by apply_body_drag.
//
// Bytes: 44 a particle (x* 12, u 12, key 4, row 4, 12 out) plus rows and neighbours from cache. Sums run in
// sorted order.
// Work: 11 flop per listed_neighbour, 36 flop per near_neighbour.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
// KERNEL_CUBIC_SPLINE or KERNEL_POLY6_SPIKY.
layout(constant_id = 2) const uint SMOOTHING_KERNEL = 0;
#define HAS_SMOOTHING_KERNELS
#include "grid/grid.glsl"
#include "pbd/walls.glsl"

// 1 if faces of the domain have their own friction.
layout(constant_id = 1) const uint HAS_FACE_FRICTION = 0;

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
    // Weight of the drag of walls by XSPH.
    float wall_xsph;
    // ν̂, and the calibration of G on the lattice over V/h³.
    float viscosity_share;
    float viscous_wall_scale;
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
    sums.viscous += (1.0 - q) * along;
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
    WallTerm wall = domain_term(walls, x, support_m);
    vec3 drag = wall_friction * (1.0 - wall.open) * u;
    if (HAS_FACE_FRICTION != 0u) drag += face_drag(walls, x, support_m, lower_friction, upper_friction) * u;
    drag *= wall_xsph;
    vec3 v = u + xsph_viscosity * (3.0 * kernel_scale() * volume_h3 * sums.smoothing - drag);
    // The branch is uniform; without viscosity the velocity keeps its bits.
    if (viscosity_share != 0.0) {
        vec3 lower = wall_friction + lower_friction;
        vec3 upper = wall_friction + upper_friction;
        vec3 rate = viscous_wall_drag(walls, x, support_m, lower, upper);
        v += viscosity_share * (5.0 * sums.viscous - viscous_wall_scale * rate * u);
    }
    velocity[i] = v;
}
