#version 460
// Computes the residual u − v + Δt a(v) of implicit viscosity, the first direction of conjugate gradients,
// its square, and that of v − u. Fed particles keep their velocity: their residual is zero.
//
// Bytes: 132 a particle plus rows and neighbours from cache. Sums run in sorted order.
// Elements: coupling = threads * 3, shape = 0, body_walls = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "viscoelastic/terms.glsl"
#include "viscoelastic/neighbours.glsl"

// 1 for the one-sided force of Huang2016 eq 2.24, which does not conserve momentum.
layout(constant_id = 1) const uint AS_PRINTED = 0;
// 1 if bodies complete the neighbourhoods (body_walls.glsl).
layout(constant_id = 2) const uint HAS_BODIES = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer Field { vec3 field[]; };
layout(scalar, binding = 5) readonly buffer Rows { uint rows[]; };
layout(scalar, binding = 6) readonly buffer Terms { ViscoelasticTerms terms[]; };
layout(scalar, binding = 7) readonly buffer Coupling { vec4 coupling[]; };
layout(scalar, binding = 8) readonly buffer Updated { vec3 updated[]; };
layout(scalar, binding = 9) writeonly buffer Residual { vec3 residual[]; };
layout(scalar, binding = 10) writeonly buffer Direction { vec3 direction[]; };
layout(scalar, binding = 11) writeonly buffer Product { float product[]; };
layout(scalar, binding = 12) writeonly buffer Reference { float reference[]; };
layout(scalar, binding = 13) readonly buffer Shape { vec4 shape[]; };
layout(scalar, binding = 14) readonly buffer BodyWalls { vec4 body_walls[]; };
layout(scalar, push_constant) uniform Params {
    // Speed of the sheared faces along x; 0 for directions of the solve.
    float wall_speed_m_s;
};
#include "viscoelastic/stress_divergence.glsl"
#include "viscoelastic/impulse_of_bodies.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 so_far = field[i] - updated[i];
    vec3 r = vec3(0.0);
    if (!is_fed(terms[0], predicted[i])) {
        r = impulse_of_stress(i) - so_far;
        if (HAS_BODIES != 0u) r += impulse_of_bodies(i, true);
    }
    residual[i] = r;
    direction[i] = r;
    product[i] = dot(r, r);
    reference[i] = dot(so_far, so_far);
}
