// B-splines that spread a particle over nodes: cubic with STENCIL = 4 nodes an axis (004 eq 3.3), quadratic with 3. Kernels that include
// this declare STENCIL and AS_PRINTED first.
//
// `f` is where the particle lies among its nodes (`place_in_stencil`), k = 0, 1, … the node. Each weight is a product of factors that
// are exact to rounding where it is small; AS_PRINTED evaluates the sums of eq 3.3 instead, which are exact to the rounding of 1.
#ifndef MPM_SPLINES
#define MPM_SPLINES
#include "mpm/terms.glsl"

// 0 ≤ f < 1 from the second node on for four nodes, ½ ≤ f < 1½ from the first on for three. Differences of near numbers are exact.
vec3 place_in_stencil(vec3 xi, uvec3 base) {
    precise vec3 f = xi - vec3(base) - float(STENCIL - 3u);
    return f;
}

// The same, counted from the first node.
vec3 from_base(vec3 f) { return f + float(STENCIL - 3u); }

float printed_weight(float x) {
    float r = abs(x);
    if (r < 1.0) return 0.5 * r * r * r - r * r + 2.0 / 3.0;
    return r < 2.0 ? -r * r * r / 6.0 + r * r - 2.0 * r + 4.0 / 3.0 : 0.0;
}

float spline_weight(float f, uint k) {
    if (STENCIL == 4u) {
        if (AS_PRINTED != 0u) return printed_weight(f + 1.0 - float(k));
        float g = 1.0 - f;
        float t = k < 2u ? f : g;
        float u = k < 2u ? g : f;
        // The outer nodes weigh u³/6, the inner ones ⅔ − t² + t³/2.
        return k == 0u || k == 3u ? u * u * u * (1.0 / 6.0) : 2.0 / 3.0 - t * t * (1.0 - 0.5 * t);
    }
    float d = f - 1.0;
    if (k == 1u) return 0.75 - d * d;
    float u = k == 0u ? 0.5 - d : 0.5 + d;
    return 0.5 * u * u;
}

// dN/dx in 1/cells; 004 eq 3.6 loses the sign of its first case.
float spline_slope(float f, uint k) {
    if (STENCIL == 4u) {
        float g = 1.0 - f;
        if (k == 0u) return -0.5 * g * g;
        if (k == 1u) return 0.5 * f * (3.0 * f - 4.0);
        if (k == 2u) return -0.5 * g * (3.0 * g - 4.0);
        return 0.5 * f * f;
    }
    float d = f - 1.0;
    if (k == 1u) return -2.0 * d;
    return k == 0u ? d - 0.5 : d + 0.5;
}

// Nodes along the third axis that a particle reaches.
const uint STENCIL_Z = (DIMENSIONS - 2u) * STENCIL + (3u - DIMENSIONS);

// Weight of node k, and its gradient in 1/cells (004 eq 3.2, 3.5): (∇w, w).
vec4 node_weight(vec3 f, uvec3 k) {
    vec3 w = vec3(spline_weight(f.x, k.x), spline_weight(f.y, k.y), 1.0);
    vec3 s = vec3(spline_slope(f.x, k.x), spline_slope(f.y, k.y), 0.0);
    if (DIMENSIONS == 3u) {
        w.z = spline_weight(f.z, k.z);
        s.z = spline_slope(f.z, k.z);
    }
    return vec4(s.x * w.y * w.z, w.x * s.y * w.z, w.x * w.y * s.z, w.x * w.y * w.z);
}

// One over the inertia of the spline, 1/D: 3/h² for the cubic, 4/h² for the quadratic one (Jiang et al. 2015).
float inverse_inertia(float cells_per_m) { return float(7u - STENCIL) * cells_per_m * cells_per_m; }

#endif
