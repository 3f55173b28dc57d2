#version 460
// Applies one Jacobi correction to snow (Chen2021 eq 3.1, 5.25, 6.6):
//   Δx_i = Σ_j non-penetration with snow and water                                                (eq 5.14)
//        + Σ_links stretch: −½ k ω (|x_ij| − l) n̂                                                 (eq 5.12)
//        + ω h [ Σ_j (μ_i v_j + μ_j v_i) h∇V W(x_ij) + μ_i h∇(wall) ]                          (eq 6.6,
//          and water's reaction), with volumes v over that of water
//
// Contacts and links that are springs enter as the displacement u_i = Δt²/m F_i by their forces instead. An
// implicit step solves u = Δt²/m F(x̃ + u), with x̃ the prediction:
//   u ← Δt²/m F(x of the last step) in the first iteration, u ← u + β (Δt²/m F(x*) − u) in the others.
// At rest the first is the solution, so that nothing creeps for any number of iterations; without forces it
// is zero, so that bodies fall freely. A linked pair has no contact: its link resists compression.
//
// Then the walls confine it, and their displacement is accumulated for friction; with springs, β of what it
// was is taken back before, since it changes with the forces. Pair terms have the opposite sign at the other
// end.
//
// Bytes: 124 + 8 · links a particle plus rows and neighbours from cache. Sums run in sorted order, over links
// in that of their slots.
// Work: 11 flop per listed_neighbour_of_snow, 18 flop per near_neighbour_of_snow.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "pbd/motion.glsl"
#include "snow/terms.glsl"
#include "snow/volume.glsl"

layout(constant_id = 1) const uint HAS_BODIES = 0;
// 1 if contacts, and if links, are springs.
layout(constant_id = 2) const uint HAS_CONTACT_SPRINGS = 0;
layout(constant_id = 3) const uint HAS_LINK_SPRINGS = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
// The cells of particles, too; without rows (ROW_WORDS 0) these alone.
layout(scalar, binding = 1) readonly buffer Rows { uint rows[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 4) readonly buffer Contact { vec2 contact[]; };
layout(scalar, binding = 5) readonly buffer FluidCellStart { uint fluid_cell_start[]; };
layout(scalar, binding = 6) readonly buffer FluidConstraint { vec4 fluid_constraint[]; };
layout(scalar, binding = 7) readonly buffer FluidContact { vec2 fluid_contact[]; };
layout(scalar, binding = 8) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 9) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 10) readonly buffer Position { vec3 position[]; };
// Part of x* below its ulp (pbd/solve_positions.comp).
layout(scalar, binding = 11) buffer Residual { vec3 residual_m[]; };
layout(scalar, binding = 12) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 13) readonly buffer Terms { SnowTerms all_terms[]; };
// Displacements by walls and, in a second half if there are springs, by springs.
layout(scalar, binding = 14) buffer Push { vec3 push_m[]; };
layout(scalar, binding = 15) writeonly buffer Predicted { vec3 predicted[]; };
layout(scalar, push_constant) uniform Params {
    uint is_first;
    // Flag in the rows.
    uint row_flag;
};
#include "snow/pair.glsl"
#include "pbd/neighbours.glsl"

// Returns x_i − x_j in m where springs are evaluated: in the first iteration at the last step's positions.
vec3 spring_offset(uint i, uint j) {
    return is_first != 0u ? position[i] - position[j] : constraint[i].xyz - constraint[j].xyz;
}

// Returns Δt²/m times the force of a link that is a spring, in m, less that of the contact of its ends, which
// the sum over neighbours within h at x* contains.
vec3 link_force(SnowTerms terms, uint i, uint j, float rest_m, vec2 contact_i, vec2 contact_j) {
    vec3 offset = spring_offset(i, j);
    precise float length2 = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
    // Coincident ends have no direction.
    if (length2 == 0.0) return vec3(0.0);
    float length_m = sqrt(length2);
    float spring = terms.link_spring * min(contact_i.x, contact_j.x);
    vec3 force = -spring * (length_m - rest_m) / length_m * offset;
    vec3 apart = constraint[i].xyz - constraint[j].xyz;
    bool has_contact = HAS_CONTACT_SPRINGS != 0u && dot(apart, apart) < terms.support_m * terms.support_m;
    return force - (has_contact ? contact_force(terms, terms.contact_q, contact_i, contact_j, offset) : vec3(0.0));
}

// Returns the correction by a link (eq 5.12), in m.
vec3 stretch_correction(SnowTerms terms, uint i, uint j, float rest_m, vec2 contact_i, vec2 contact_j) {
    precise vec3 offset = constraint[i].xyz - constraint[j].xyz;
    precise float length2 = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
    if (length2 == 0.0) return vec3(0.0);
    float length_m = sqrt(length2);
    float stretch_m = length_m - rest_m;
    float gain = pair_gain(terms, contact_i, contact_j);
    return -0.5 * terms.stretch * gain * stretch_m / length_m * offset;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    SnowTerms terms = all_terms[0];
    vec4 own = constraint[i];
    vec2 own_contact = contact[i];
    float own_volume = volume_of_snow(terms, own_contact.x);
    Row row = row_of(i, row_flag);
    uvec3 home = home_of(terms.grid, ROW_WORDS == 0u ? rows[i] : row_cell(row, i));
    float inverse_h = 1.0 / terms.support_m;
    vec3 correction = vec3(0.0);
    vec3 touching = vec3(0.0);
    vec3 force = vec3(0.0);
    FOR_EACH_NEIGHBOUR(row, row.own, cell_start, terms.grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec4 other = constraint[j];
        vec3 offset = (own.xyz - other.xyz) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 >= 1.0 || j == i) continue;
        float q = sqrt(q2);
        float multipliers = own.w * volume_of_snow(terms, contact[j].x) + other.w * own_volume;
        correction += density_correction(multipliers, offset, q);
        float reach = terms.contact_q;
        if (HAS_CONTACT_SPRINGS != 0u) {
            force += contact_force(terms, reach, own_contact, contact[j], spring_offset(i, j));
        } else if (q < reach) {
            touching += contact_correction(terms, reach, own_contact, contact[j], offset, q);
        }
    }
    FOR_EACH_NEIGHBOUR(row, row.other, fluid_cell_start, terms.grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec4 other = fluid_constraint[j];
        vec3 offset = (own.xyz - other.xyz) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 >= 1.0) continue;
        float q = sqrt(q2);
        correction += density_correction(own.w + other.w * own_volume, offset, q);
        float reach = mixed_contact_distance(terms);
        if (HAS_CONTACT_SPRINGS != 0u) {
            vec3 apart_m = own.xyz - other.xyz;
            if (is_first == 0u) force += contact_force(terms, reach, own_contact, fluid_contact[j], apart_m);
        } else if (q < reach) {
            touching += contact_correction(terms, reach, own_contact, fluid_contact[j], offset, q);
        }
    }
    vec3 wall_correction = vec3(0.0);
    if (own.w != 0.0) {
        WallTerm wall = domain_term(terms.walls, own.xyz, terms.support_m);
        if (HAS_BODIES != 0u) add_bodies(wall, boundary_density[i]);
        wall_correction = own.w * wall.gradient_h;
    }
    vec3 total = terms.over_relaxation * (SPLINE_SLOPE_SCALE * terms.volume_h3 * correction + wall_correction) + touching;
    vec3 moved_m = vec3(0.0);
    for (uint slot = 0u; slot < terms.link_slots; ++slot) {
        uint at = slot * terms.link_stride + i;
        uint j = partner[at];
        if (j == INVALID_INDEX) break;
        if (HAS_LINK_SPRINGS != 0u) force += link_force(terms, i, j, rest_length_m[at], own_contact, contact[j]);
        else moved_m += stretch_correction(terms, i, j, rest_length_m[at], own_contact, contact[j]);
    }
    vec3 pushed = push_m[i];
    if (HAS_CONTACT_SPRINGS + HAS_LINK_SPRINGS != 0u) {
        float share = is_first != 0u ? 1.0 : terms.spring_share;
        uint elastic = push_m.length() / 2u + i;
        vec3 so_far = is_first != 0u ? vec3(0.0) : push_m[elastic];
        vec3 step_m = share * (force - so_far);
        push_m[elastic] = so_far + step_m;
        moved_m += step_m - share * pushed;
        pushed *= 1.0 - share;
    } else if (is_first != 0u) {
        pushed = vec3(0.0);
    }
    vec3 rest_m;
    vec3 free = added(own.xyz, residual_m[i], terms.support_m * total + moved_m, rest_m);
    vec3 x = confine(walls_of_snow(terms, own_contact.x), free);
    predicted[i] = x;
    residual_m[i] = residual_after(rest_m, free, x);
    push_m[i] = pushed + (x - free);
}
