#version 460
// Counts the constraints of each snow particle: its contacts with both phases, and its links unless they are
// springs. A particle that has just frozen still obeys the density constraint, by 1 − α (Chen2021 eq 6.6):
//   constraint_i = (x*, (1 − α_i) λ_i),  contact_i = (α_i, n_i)
//
// Bytes: 52 a particle (x* 12, key 4, α 4, degree 4, row 4, out 16 + 8) plus rows and neighbours from cache.
// Sums run in sorted order. The density of the few particles that are blended is not counted as work.
// Work: 11 flop per listed_neighbour_of_snow.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "snow/terms.glsl"
#include "snow/volume.glsl"

layout(constant_id = 1) const uint HAS_BODIES = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer Blend { float blend[]; };
layout(scalar, binding = 3) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 4) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 5) readonly buffer FluidCellStart { uint fluid_cell_start[]; };
layout(scalar, binding = 6) readonly buffer FluidPredicted { vec3 fluid_predicted[]; };
layout(scalar, binding = 7) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 8) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 9) readonly buffer Terms { SnowTerms all_terms[]; };
layout(scalar, binding = 10) writeonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 11) writeonly buffer Contact { vec2 contact[]; };
layout(scalar, binding = 12) readonly buffer Rows { uint rows[]; };
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
    float alpha = blend[i];
    bool is_blending = alpha < 1.0;
    uvec3 home = home_of(terms.grid, key[i]);
    Row row = row_of(i, row_flag);
    float inverse_h = 1.0 / terms.support_m;
    float reach = is_blending ? 1.0 : max(terms.contact_q, mixed_contact_distance(terms));
    DensitySum sum = density_of_self(volume_of_snow(terms, alpha));
    float constraints = terms.link_spring > 0.0 ? 0.0 : float(degree[i]);
    FOR_EACH_NEIGHBOUR(row, row.own, cell_start, terms.grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec3 offset = (x - predicted[j]) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 >= reach * reach || j == i) continue;
        float q = sqrt(q2);
        constraints += q < terms.contact_q ? 1.0 : 0.0;
        if (is_blending) add_density(sum, terms, offset, q, volume_of_snow(terms, blend[j]));
    }
    FOR_EACH_NEIGHBOUR(row, row.other, fluid_cell_start, terms.grid, home, k) {
        vec3 offset = (x - fluid_predicted[NEIGHBOUR_AT(row, k)]) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 >= reach * reach) continue;
        float q = sqrt(q2);
        constraints += q < mixed_contact_distance(terms) ? 1.0 : 0.0;
        if (is_blending) add_density(sum, terms, offset, q, 1.0);
    }
    float lambda = 0.0;
    if (is_blending) {
        WallTerm wall = domain_term(terms.walls, x, terms.support_m);
        if (HAS_BODIES != 0u) add_bodies(wall, boundary_density[i]);
        float ratio;
        lambda = multiplier_of(sum, terms, 1.0 - wall.open, wall.gradient_h, ratio);
    }
    constraint[i] = vec4(x, (1.0 - alpha) * lambda);
    contact[i] = vec2(alpha, max(constraints, 1.0));
}
