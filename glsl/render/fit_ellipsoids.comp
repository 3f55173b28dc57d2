#version 460
// Fits an ellipsoid to the neighbourhood of each particle (Yu2013), so that a surface drawn from them is flat
// where the fluid's is, and thin sheets are thin:
//   x̄_i = Σ_j w x_j / Σ_j w,  w = 1 − (r_ij/reach)³              weighted mean, with the particle itself
//   C_i = Σ_j w (x_j − x̄_i)(x_j − x̄_i)ᵀ / Σ_j w = U diag(σ) Uᵀ   weighted covariance
//   σ̃_k = max(σ_k, σ_1/max_ratio)                                no ellipsoid is flatter than that
// Semi-axes are along the columns of U, proportional to σ̃, with the volume of the sphere of the same
// particle. (Yu2013 multiplies C by a constant for the same purpose.) Centres move by `center_share` of x̄_i
// − x_i. A particle with fewer than MIN_NEIGHBOURS stays a sphere.
//
// Bytes: 56 a particle plus candidates from cache. Sums run in sorted order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "linalg/svd.glsl"
#include "render/ellipsoid.glsl"

const uint MIN_NEIGHBOURS = 8u;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) writeonly buffer Ellipsoids { Ellipsoid ellipsoid[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    // Distance of neighbours in m, and radius of spheres.
    float reach_m;
    float radius_m;
    // Bound on the ratio of the longest and any other semi-axis.
    float max_ratio;
    float center_share;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = position[i];
    float inverse_reach = 1.0 / reach_m;
    uint n = 0u;
    float weights = 1.0;
    vec3 first = vec3(0.0);
    vec3 squares = vec3(0.0);
    vec3 products = vec3(0.0);
    FOR_EACH_CANDIDATE(grid, home_of(grid, key[i]), j) {
        vec3 d = (position[j] - x) * inverse_reach;
        float q2 = dot(d, d);
        if (j == i || !(q2 < 1.0)) continue;
        float w = 1.0 - q2 * sqrt(q2);
        ++n;
        weights += w;
        first += w * d;
        squares += w * d * d;
        products += w * d.xxy * d.yzz;
    }
    vec3 mean = first / weights;
    vec3 diagonal = squares / weights - mean * mean;
    vec3 off = products / weights - mean.xxy * mean.yzz;
    mat3 u, v;
    vec3 sigma;
    svd3(mat3(diagonal.x, off.x, off.y, off.x, diagonal.y, off.z, off.y, off.z, diagonal.z), u, sigma, v);

    Ellipsoid e = Ellipsoid(x, radius_m, vec3(1.0 / radius_m), vec3(0.0));
    if (n >= MIN_NEIGHBOURS && sigma.x > 0.0) {
        vec3 axes = max(sigma, vec3(sigma.x / max_ratio));
        vec3 semi_axes_m = radius_m / pow(axes.x * axes.y * axes.z, 1.0 / 3.0) * axes;
        mat3 g = mat3(u[0] / semi_axes_m.x, u[1] / semi_axes_m.y, u[2] / semi_axes_m.z) * transpose(u);
        e.center = x + center_share * reach_m * mean;
        e.reach_m = semi_axes_m.x;
        e.diagonal = vec3(g[0][0], g[1][1], g[2][2]);
        e.off_diagonal = vec3(g[0][1], g[0][2], g[1][2]);
    }
    ellipsoid[i] = e;
}
