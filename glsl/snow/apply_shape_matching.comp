#version 460
// Moves each snow particle towards its goals by the fits of its own and of its partners' neighbourhoods
// (snow/shape.glsl):
//   Δx_i = s Σ_k (R_k X_i + t_k − x*_i),  s = stiffness / (slots + 1).
// The corrections of one cluster sum to zero, and s is the same for all, so momentum is conserved.
//
// Bytes: 132 + 12 · links a particle, 60 a partner. Sums run in the order of slots.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/motion.glsl"
#include "snow/terms.glsl"
#include "snow/volume.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 2) readonly buffer RestPosition { vec3 rest_position[]; };
layout(scalar, binding = 3) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 4) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 5) readonly buffer Degree { uint degree[]; };
#include "snow/shape.glsl"
layout(scalar, binding = 6) readonly buffer Fits { Fit fits[]; };
layout(scalar, binding = 7) readonly buffer Terms { SnowTerms all_terms[]; };
layout(scalar, binding = 8) buffer Push { vec3 push_m[]; };
layout(scalar, binding = 9) buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 10) buffer Residual { vec3 residual_m[]; };
layout(scalar, binding = 11) readonly buffer Contact { vec2 contact[]; };

void main() {
    uint i = thread_idx();
    if (i >= count[0] || degree[i] == 0u) return;
    SnowTerms terms = all_terms[0];
    vec3 x = constraint[i].xyz;
    vec3 rest = rest_position[i];
    vec3 away = fits[i].rotation * rest + fits[i].shift - x;
    for (uint slot = 0u; slot < degree[i]; ++slot) {
        uint at = slot * terms.link_stride + i;
        uint j = partner[at];
        if (is_of_shape(at, rest, rest_position[j])) away += fits[j].rotation * rest + fits[j].shift - x;
    }
    vec3 rest_m;
    vec3 free = added(predicted[i], residual_m[i], terms.shape_share * away, rest_m);
    vec3 confined = confine(walls_of_snow(terms, contact[i].x), free);
    predicted[i] = confined;
    residual_m[i] = residual_after(rest_m, free, confined);
    push_m[i] += confined - free;
}
