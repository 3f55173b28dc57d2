#version 460
// Applies the operator of implicit viscosity to a direction p: p − Δt a(p), and computes its product with p.
// Fed particles have no direction, and a result of zero keeps it so: the operator is that of the others.
//
// Bytes: 104 a particle plus rows and neighbours from cache. Sums run in sorted order.
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
layout(scalar, binding = 8) writeonly buffer Applied { vec3 applied[]; };
layout(scalar, binding = 9) writeonly buffer Product { float product[]; };
layout(scalar, binding = 10) readonly buffer Shape { vec4 shape[]; };
layout(scalar, binding = 11) readonly buffer BodyWalls { vec4 body_walls[]; };
layout(scalar, push_constant) uniform Params {
    // Speed of the sheared faces along x; 0 for directions of the solve.
    float wall_speed_m_s;
};
#include "viscoelastic/stress_divergence.glsl"
#include "viscoelastic/impulse_of_bodies.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (is_fed(terms[0], predicted[i])) {
        applied[i] = vec3(0.0);
        product[i] = 0.0;
        return;
    }
    vec3 p = field[i];
    vec3 result = p - impulse_of_stress(i);
    if (HAS_BODIES != 0u) result -= impulse_of_bodies(i, false);
    applied[i] = result;
    product[i] = dot(p, result);
}
