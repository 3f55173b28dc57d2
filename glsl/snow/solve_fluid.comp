#version 460
// Applies one Jacobi correction to water (Chen2021 eq 5.24, 5.27):
//   Δx_i = ω h [ Σ_j (μ_i v_j + μ_j v_i + s_corr) h∇V W(x_ij) + μ_i h∇(wall) ]
//          + Σ_k non-penetration with snow k
// where μ = α λ for water, (1 − α) λ for snow, v is the volume over that of water, and j runs over both
// phases; then confines it by the walls.
//
// Snow gets the opposite of its correction of water (solve_solid): the coupling conserves momentum, and snow
// floats. The paper's eq 5.25 omits the reaction of the density constraint. Bytes: 72 a particle (constraint
// 16, contact 8, key 4, row 4, x* out 12 + …) plus rows and neighbours from cache. Sums run in sorted order.
// Work: 11 flop per listed_neighbour_of_water, 18 flop per near_neighbour_of_water.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/motion.glsl"
#include "snow/terms.glsl"
#include "snow/volume.glsl"

layout(constant_id = 1) const uint BOUNDARY = 0;
layout(constant_id = 2) const uint HAS_BODIES = 0;
// 1 if s_corr is not zero, and if contacts are springs: where lanes run all branches, both cost in any case.
layout(constant_id = 3) const uint HAS_PRESSURE = 0;
layout(constant_id = 4) const uint HAS_CONTACT_SPRINGS = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 4) readonly buffer Contact { vec2 contact[]; };
layout(scalar, binding = 5) readonly buffer SolidCellStart { uint solid_cell_start[]; };
layout(scalar, binding = 6) readonly buffer SolidConstraint { vec4 solid_constraint[]; };
layout(scalar, binding = 7) readonly buffer SolidContact { vec2 solid_contact[]; };
layout(scalar, binding = 8) readonly buffer BoundaryCellStart { uint boundary_cell_start[]; };
layout(scalar, binding = 9) readonly buffer Boundary { vec4 boundary[]; };
layout(scalar, binding = 10) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 11) readonly buffer Terms { SnowTerms all_terms[]; };
layout(scalar, binding = 12) writeonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 13) buffer Elastic { vec3 elastic_m[]; };
layout(scalar, binding = 14) readonly buffer Rows { uint rows[]; };
// Part of x* below its ulp (pbd/solve_positions.comp).
layout(scalar, binding = 15) buffer Residual { vec3 residual_m[]; };
layout(scalar, push_constant) uniform Params {
    uint is_first;
    // Flag in the rows, or INVALID_INDEX where there are none.
    uint row_flag;
};
#include "snow/pair.glsl"
#include "pbd/neighbours.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    SnowTerms terms = all_terms[0];
    vec4 own = constraint[i];
    uvec3 home = home_of(terms.grid, key[i]);
    Row row = row_of(i, row_flag);
    float inverse_h = 1.0 / terms.support_m;
    vec3 correction = vec3(0.0);
    FOR_EACH_NEIGHBOUR(row, row.own, cell_start, terms.grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec4 other = constraint[j];
        vec3 offset = (own.xyz - other.xyz) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 >= 1.0 || j == i) continue;
        float q = sqrt(q2);
        float multipliers = own.w + other.w;
        if (HAS_PRESSURE != 0u)
            multipliers -= artificial_pressure(q, terms.pressure_strength, terms.pressure_inverse_shape,
                                               terms.pressure_exponent);
        correction += density_correction(multipliers, offset, q);
    }
    vec3 touching = vec3(0.0);
    vec3 force = vec3(0.0);
    FOR_EACH_NEIGHBOUR(row, row.other, solid_cell_start, terms.grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec4 other = solid_constraint[j];
        vec3 offset = (own.xyz - other.xyz) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 >= 1.0) continue;
        float q = sqrt(q2);
        float volume = volume_of_snow(terms, solid_contact[j].x);
        correction += density_correction(own.w * volume + other.w, offset, q);
        float reach = mixed_contact_distance(terms);
        if (HAS_CONTACT_SPRINGS != 0u) {
            vec3 apart_m = own.xyz - other.xyz;
            if (is_first == 0u) force += contact_force(terms, reach, contact[i], solid_contact[j], apart_m);
        } else if (q < reach) {
            touching += contact_correction(terms, reach, contact[i], solid_contact[j], offset, q);
        }
    }
    vec3 wall_correction = vec3(0.0);
    if (BOUNDARY != 0u) {
        FOR_EACH_CANDIDATE_IN(boundary_cell_start, terms.grid, home, j) {
            vec3 offset = (own.xyz - boundary[j].xyz) * inverse_h;
            float q2 = dot(offset, offset);
            if (q2 < 1.0) correction += boundary[j].w * density_correction(own.w, offset, sqrt(q2));
        }
    } else {
        WallTerm wall = domain_term(terms.walls, own.xyz, terms.support_m);
        if (HAS_BODIES != 0u) add_bodies(wall, boundary_density[i]);
        wall_correction = own.w * wall.gradient_h;
    }
    vec3 total = terms.over_relaxation * (SPLINE_SLOPE_SCALE * terms.volume_h3 * correction + wall_correction) + touching;
    vec3 change_m = terms.support_m * total;
    if (HAS_CONTACT_SPRINGS != 0u) {
        // As in solve_solid; contacts between snow and water enter in the second iteration.
        vec3 so_far = is_first != 0u ? vec3(0.0) : elastic_m[i];
        vec3 step_m = is_first != 0u ? vec3(0.0) : terms.spring_share * (force - so_far);
        elastic_m[i] = so_far + step_m;
        change_m += step_m;
    }
    vec3 rest_m;
    vec3 free = added(own.xyz, residual_m[i], change_m, rest_m);
    vec3 x = confine(terms.walls, free);
    predicted[i] = x;
    residual_m[i] = residual_after(rest_m, free, x);
}
