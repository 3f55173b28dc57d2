// B-splines that spread a particle over nodes: cubic with STENCIL = 4 nodes per axis (Breekveldt2017 eq 3.3),
// quadratic with 3. Kernels that include this declare STENCIL and AS_PRINTED first.
//
// `f` is the position of the particle among its nodes (`place_in_stencil`), k = 0, 1, … the node. Each weight
// is a product of factors that are exact to rounding even if it is small; AS_PRINTED evaluates the sums of eq
// 3.3 instead, which are exact to the rounding of 1.
#ifndef MPM_SPLINES
#define MPM_SPLINES
#include "mpm/terms.glsl"

// Returns 0 ≤ f < 1 from the second node on for four nodes, ½ ≤ f < 1½ from the first on for three.
// Differences of nearby numbers are exact.
vec3 place_in_stencil(vec3 xi, uvec3 base) {
    precise vec3 f = xi - vec3(base) - float(STENCIL - 3u);
    return f;
}

vec3 in_dimensions(vec3 v) { return DIMENSIONS == 3u ? v : vec3(v.xy, 0.0); }

// Returns the same position, counted from the first node.
vec3 from_base(vec3 f) { return f + float(STENCIL - 3u); }

float printed_weight(float x) {
    float r = abs(x);
    if (r < 1.0) return 0.5 * r * r * r - r * r + 2.0 / 3.0;
    return r < 2.0 ? -r * r * r / 6.0 + r * r - 2.0 * r + 4.0 / 3.0 : 0.0;
}

// Returns the weight of node k along one axis, and its slope in 1/cells: Breekveldt2017 eq 3.3 and 3.6, with
// the missing sign of its first case restored.
//
// The cubic spline is ((2 − r)³ − 4 (1 − r)³)/6 within a cell and (2 − r)³/6 beyond. With e = 1 − f for the
// two nodes below and e = f for the two above, both exact, r is 1 − e for an inner node and 2 − e for an
// outer one, so no sign depends on the particle.
vec2 axis_weight(float f, uint k) {
    if (STENCIL == 4u) {
        bool is_below = k < 2u;
        bool is_inner = k == 1u || k == 2u;
        float e = is_below ? 1.0 - f : f;
        float inner = is_inner ? 1.0 : 0.0;
        float outer = is_inner ? -4.0 : 1.0;
        float g = inner * (1.0 + e);
        float e2 = outer * e * e;
        float slope = 0.5 * (g * g + e2);
        float w = (g * g * g + e2 * e) * (1.0 / 6.0);
        if (AS_PRINTED != 0u) w = printed_weight(f + 1.0 - float(k));
        return vec2(w, is_below ? -slope : slope);
    }
    float d = f - 1.0;
    float u = k == 0u ? 0.5 - d : 0.5 + d;
    return k == 1u ? vec2(0.75 - d * d, -2.0 * d) : vec2(0.5 * u * u, k == 0u ? -u : u);
}

// Number of nodes along the third axis that a particle reaches.
const uint STENCIL_Z = (DIMENSIONS - 2u) * STENCIL + (3u - DIMENSIONS);

// Returns the weight of node k, and its gradient in 1/cells (Breekveldt2017 eq 3.2, 3.5): (∇w, w). In a plane
// the third component is 0.
vec4 node_weight(vec2 x, vec2 y, vec2 z) {
    if (DIMENSIONS == 2u) return vec4(x.y * y.x, x.x * y.y, 0.0, x.x * y.x);
    return vec4(x.y * y.x * z.x, x.x * y.y * z.x, x.x * y.x * z.y, x.x * y.x * z.x);
}

// Returns the factor of node k along the third axis.
vec2 third_weight(vec3 f, uint k) { return DIMENSIONS == 3u ? axis_weight(f.z, k) : vec2(1.0, 0.0); }

// Returns the inverse of the inertia of the spline, 1/D: 3/h² for the cubic, 4/h² for the quadratic one
// (Jiang et al. 2015).
float inverse_inertia(float cells_per_m) { return float(7u - STENCIL) * cells_per_m * cells_per_m; }

#endif
