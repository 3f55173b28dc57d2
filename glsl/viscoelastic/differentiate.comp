#version 460
// Computes the gradient of a velocity field with the neighbourhoods of this step, and from it the coupling of
// the viscous force: Q = (2 η D + ζ tr(D)) B − η L.
//
// Bytes: 104 a particle plus rows and neighbours from cache. Sums run in sorted order.
// Elements: shape = threads * 2, coupling = threads * 3, body_walls = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "viscoelastic/terms.glsl"
#include "viscoelastic/neighbours.glsl"
#include "viscoelastic/shape.glsl"

// 1 if bodies complete the neighbourhoods (body_walls.glsl).
layout(constant_id = 1) const uint HAS_BODIES = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer Field { vec3 field[]; };
layout(scalar, binding = 5) readonly buffer Rows { uint rows[]; };
layout(scalar, binding = 6) readonly buffer Terms { ViscoelasticTerms terms[]; };
layout(scalar, binding = 7) readonly buffer Shape { vec4 shape[]; };
layout(scalar, binding = 8) writeonly buffer Coupling { vec4 coupling[]; };
layout(scalar, binding = 9) readonly buffer BodyWalls { vec4 body_walls[]; };
layout(scalar, push_constant) uniform Params {
    // Speed of the sheared faces along x; 0 for directions of the solve.
    float wall_speed_m_s;
    // 1 for velocities, 0 for directions of the solve: the velocities of bodies count.
    uint has_moving_bodies;
};

struct Sums {
    mat3 gradient;
    vec3 velocity;
};

void add_neighbour(inout Sums sums, uint j, vec3 offset, float q, uvec3 sides) {
    vec3 v = field[j];
    if (sides != uvec3(0u)) {
        float sign = signs_of(terms[0], sides).velocity.x;
        v *= sign;
        v.x -= 2.0 * sign * (is_wall_y(terms[0], sides) ? face_velocity(sides, wall_speed_m_s) : 0.0);
    }
    sums.gradient += outerProduct(v - sums.velocity, pair_weight(q) * offset);
}

#include "viscoelastic/image.glsl"
#include "viscoelastic/summed_walls.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    bool is_deep = is_deep_in_feed(terms[0], x);
    Sums sums = Sums(mat3(0.0), field[i]);
    if (!is_deep) VISIT_NEIGHBOURS(terms[0], i, x, sums)
    // Loaded after the loop, in which it would occupy registers.
    ViscoelasticTerms t = terms[0];
    Neighbourhood n = unpack_neighbourhood(shape[2u * i], shape[2u * i + 1u]);
    float unexplained_pa_s = unexplained_viscosity(n, t.unresolved_pa_s);
    if (is_deep) {
        [[unroll]] for (uint c = 0u; c < 3u; ++c) coupling[3u * i + c] = vec4(vec3(0.0), unexplained_pa_s);
        return;
    }
    float scale = t.lattice_moment * t.support_m;
    if (HAS_BODIES != 0u) sums.gradient += scale * gradient_at_walls(i, sums.velocity, has_moving_bodies != 0u);
    mat3 gradient = sums.gradient * n.inverse_moment / scale;
    mat3 all = viscous_coupling(n, gradient, t.bulk_ratio, t.unresolved_pa_s);
    [[unroll]] for (uint c = 0u; c < 3u; ++c) coupling[3u * i + c] = vec4(all[c], unexplained_pa_s);
}
