#version 460
// Damps the vibration of links, one stage of a Runge–Kutta–Legendre scheme (Meyer et al. 2014, first order):
//   Y_j = Y_{j−1} + ν (Y_{j−2} − Y_{j−1}) + γ L(Y_{j−1}),  L(v)_i = Σ_links n̂ n̂·(v_j − v_i),
// with Y_0 the velocities after the constraints. Together the stages solve v' = k τ/m L(v), the dampers
// parallel to the springs of links (Kelvin–Voigt), stably for any τ, over one step. Forces are along links
// and opposite at both ends: momentum and rigid rotation are kept. (With μ Y_{j−1} + ν Y_{j−2} the rounding
// of μ + ν = 1 would change all velocities alike.)
//
// Bytes: 48 + 4 · links a particle, 32 a partner. Sums run in the order of slots.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "snow/terms.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 2) readonly buffer Contact { vec2 contact[]; };
layout(scalar, binding = 3) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 4) readonly buffer Terms { SnowTerms all_terms[]; };
layout(scalar, binding = 5) readonly buffer Before { vec3 before[]; };
layout(scalar, binding = 6) readonly buffer Now { vec3 now[]; };
layout(scalar, binding = 7) writeonly buffer Next { vec3 next[]; };
layout(scalar, push_constant) uniform Params {
    // ν, 0 in the first stage, and γ.
    float nu;
    float gain;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    SnowTerms terms = all_terms[0];
    vec3 x = predicted[i];
    vec3 own = now[i];
    vec3 sum = vec3(0.0);
    for (uint slot = 0u; slot < terms.link_slots; ++slot) {
        uint j = partner[slot * terms.link_stride + i];
        if (j == INVALID_INDEX) break;
        precise vec3 offset = x - predicted[j];
        precise float length2 = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
        if (length2 == 0.0) continue;
        vec3 closing = now[j] - own;
        float along = min(contact[i].x, contact[j].x) * dot(closing, offset) / length2;
        sum += along * offset;
    }
    next[i] = own + nu * (before[i] - own) + gain * sum;
}
