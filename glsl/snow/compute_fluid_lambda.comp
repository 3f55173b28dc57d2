#version 460
// Computes the density constraint of water among water and snow, and the number of snow particles that each
// water particle touches:
//   ρ̂_i/ρ₀ = Σ_j V W(x_ij) + Σ_k V_k W(x_ik) + wall fraction                                       (Chen2021 eq 5.23)
//   λ_i as in pbd/solve_density, over both phases                                                 (eq 5.19)
//   constraint_i = (x*, α_i λ_i): a particle that has just melted acts little like water           (eq 6.5)
//   contact_i = (α_i, n_i)                                                                        (eq 5.26)
//
// With BOUNDARY, walls are boundary particles instead of closed forms: (position, weight in particles) each
// (Akinci et al. 2012). Bytes: 52 a particle (x* 12, key 4, α 4, row 4, out 16 + 8 + 4) plus rows and
// neighbours from cache. Sums run in sorted order.
// Work: 11 flop per listed_neighbour_of_water, 23 flop per near_neighbour_of_water.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "snow/terms.glsl"
#include "snow/volume.glsl"

layout(constant_id = 1) const uint BOUNDARY = 0;
layout(constant_id = 2) const uint HAS_BODIES = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer Blend { float blend[]; };
layout(scalar, binding = 3) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 4) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 5) readonly buffer SolidCellStart { uint solid_cell_start[]; };
layout(scalar, binding = 6) readonly buffer SolidPredicted { vec3 solid_predicted[]; };
layout(scalar, binding = 7) readonly buffer BoundaryCellStart { uint boundary_cell_start[]; };
layout(scalar, binding = 8) readonly buffer Boundary { vec4 boundary[]; };
layout(scalar, binding = 9) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 10) readonly buffer Terms { SnowTerms all_terms[]; };
layout(scalar, binding = 11) writeonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 12) writeonly buffer Contact { vec2 contact[]; };
layout(scalar, binding = 13) writeonly buffer Density { float density[]; };
layout(scalar, binding = 14) readonly buffer Rows { uint rows[]; };
layout(scalar, binding = 15) readonly buffer SolidBlend { float solid_blend[]; };
layout(scalar, push_constant) uniform Params {
    // Flag in the rows, or INVALID_INDEX where there are none.
    uint row_flag;
};
#include "snow/density.glsl"
#include "pbd/neighbours.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    SnowTerms terms = all_terms[0];
    vec3 x = predicted[i];
    uvec3 home = home_of(terms.grid, key[i]);
    Row row = row_of(i, row_flag);
    float inverse_h = 1.0 / terms.support_m;
    DensitySum sum = density_of_self(1.0);
    FOR_EACH_NEIGHBOUR(row, row.own, cell_start, terms.grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec3 offset = (x - predicted[j]) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 < 1.0 && j != i) add_density(sum, terms, offset, sqrt(q2), 1.0);
    }
    float touched = 0.0;
    FOR_EACH_NEIGHBOUR(row, row.other, solid_cell_start, terms.grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec3 offset = (x - solid_predicted[j]) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 >= 1.0) continue;
        float q = sqrt(q2);
        float volume = volume_of_snow(terms, solid_blend[j]);
        add_density(sum, terms, offset, q, volume);
        touched += q < mixed_contact_distance(terms) ? 1.0 : 0.0;
    }
    float closed = 0.0;
    vec3 wall_gradient = vec3(0.0);
    if (BOUNDARY != 0u) {
        FOR_EACH_CANDIDATE_IN(boundary_cell_start, terms.grid, home, j) {
            vec3 offset = (x - boundary[j].xyz) * inverse_h;
            float q2 = dot(offset, offset);
            if (q2 < 1.0) add_density(sum, terms, offset, sqrt(q2), boundary[j].w);
        }
    } else {
        WallTerm wall = domain_term(terms.walls, x, terms.support_m);
        if (HAS_BODIES != 0u) add_bodies(wall, boundary_density[i]);
        closed = 1.0 - wall.open;
        wall_gradient = wall.gradient_h;
    }
    float ratio;
    float lambda = multiplier_of(sum, terms, closed, wall_gradient, ratio);
    float alpha = blend[i];
    constraint[i] = vec4(x, alpha * lambda);
    contact[i] = vec2(alpha, max(touched, 1.0));
    density[i] = ratio * terms.rest_density_kg_m3;
}
