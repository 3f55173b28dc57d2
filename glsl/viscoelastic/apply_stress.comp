#version 460
// Applies stress to velocities explicitly: v = u + Δt a(u), and v = u of fed particles.
//
// Bytes: 88 a particle plus rows and neighbours from cache. Sums run in sorted order.
// Elements: coupling = threads * 3.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "viscoelastic/terms.glsl"
#include "viscoelastic/neighbours.glsl"

// 1 for the one-sided force of Huang2016 eq 2.24, which does not conserve momentum.
layout(constant_id = 1) const uint AS_PRINTED = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer Field { vec3 field[]; };
layout(scalar, binding = 5) readonly buffer Rows { uint rows[]; };
layout(scalar, binding = 6) readonly buffer Terms { ViscoelasticTerms terms[]; };
layout(scalar, binding = 7) readonly buffer Coupling { vec4 coupling[]; };
layout(scalar, binding = 8) writeonly buffer Velocity { vec3 velocity[]; };
layout(scalar, push_constant) uniform Params {
    // Speed of the sheared faces along x; 0 for directions of the solve.
    float wall_speed_m_s;
};
#include "viscoelastic/stress_divergence.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    velocity[i] = field[i] + (is_fed(terms[0], predicted[i]) ? vec3(0.0) : impulse_of_stress(i));
}
