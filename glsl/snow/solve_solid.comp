#version 460
// Applies one Jacobi correction to snow (Chen2021 eq 3.1, 5.25, 6.6):
//   Δx_i = Σ_j non-penetration with snow and water                                                (eq 5.14)
//        + Σ_links stretch: −½ k ω (|x_ij| − l) n̂, or XPBD with compliance                        (eq 5.12;
//          Macklin et al. 2016)
//        + ω h [ Σ_j (μ_i + μ_j) h∇V W(x_ij) + μ_i h∇(wall) ]                                      (eq 6.6,
//          and water's reaction)
//
// Then the walls confine it, and their displacement is accumulated for friction. Pair terms have the opposite
// sign at the other end.
//
// Bytes: 60 + 12 · links a particle plus neighbours from cache. Sums run in sorted order, over links in that
// of their slots.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "snow/terms.glsl"
#include "bonds/xpbd.glsl"

layout(constant_id = 1) const uint HAS_BODIES = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 4) readonly buffer Contact { vec2 contact[]; };
layout(scalar, binding = 5) readonly buffer FluidCellStart { uint fluid_cell_start[]; };
layout(scalar, binding = 6) readonly buffer FluidConstraint { vec4 fluid_constraint[]; };
layout(scalar, binding = 7) readonly buffer FluidContact { vec2 fluid_contact[]; };
layout(scalar, binding = 8) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 9) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 10) readonly buffer Degree { uint degree[]; };
layout(scalar, binding = 11) buffer Multiplier { float multiplier[]; };
layout(scalar, binding = 12) readonly buffer BoundaryDensity { vec4 boundary_density[]; };
layout(scalar, binding = 13) readonly buffer Terms { SnowTerms all_terms[]; };
layout(scalar, binding = 14) buffer Push { vec3 push_m[]; };
layout(scalar, binding = 15) writeonly buffer Predicted { vec3 predicted[]; };
layout(scalar, push_constant) uniform Params { uint is_first; };
#include "snow/pair.glsl"

// Returns the correction by the links of a particle, in m. The multiplier of a link is stored at both ends,
// with the same value.
vec3 stretch_correction(SnowTerms terms, uint i, vec3 x, vec2 contact_i) {
    vec3 moved = vec3(0.0);
    for (uint slot = 0u; slot < degree[i]; ++slot) {
        uint at = slot * terms.link_stride + i;
        uint j = partner[at];
        float so_far = 0.0;
        if (terms.compliance_dt2 >= 0.0) {
            so_far = is_first != 0u ? 0.0 : multiplier[at];
            multiplier[at] = so_far;
        }
        precise vec3 offset = x - constraint[j].xyz;
        precise float length2 = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
        // Coincident ends have no direction for a correction.
        if (length2 == 0.0) continue;
        float length_m = sqrt(length2);
        float stretch_m = length_m - rest_length_m[at];
        float gain = pair_gain(terms, contact_i, contact[j]);
        if (terms.compliance_dt2 >= 0.0) {
            float w = 1.0 / terms.particle_mass_kg;
            float step = bond_multiplier_step(gain, stretch_m, terms.compliance_dt2, so_far, 2.0 * w);
            multiplier[at] = so_far + step;
            moved += bond_correction(w, step, offset, length_m);
        } else {
            moved -= 0.5 * terms.stretch * gain * stretch_m / length_m * offset;
        }
    }
    return moved;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    SnowTerms terms = all_terms[0];
    vec4 own = constraint[i];
    vec2 own_contact = contact[i];
    uvec3 home = home_of(terms.grid, key[i]);
    float inverse_h = 1.0 / terms.support_m;
    vec3 correction = vec3(0.0);
    vec3 touching = vec3(0.0);
    FOR_EACH_CANDIDATE_IN(cell_start, terms.grid, home, j) {
        vec4 other = constraint[j];
        vec3 offset = (own.xyz - other.xyz) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 >= 1.0 || j == i) continue;
        float q = sqrt(q2);
        correction += density_correction(own.w + other.w, offset, q);
        if (q < terms.contact_q) touching += contact_correction(terms, own_contact, contact[j], offset, q);
    }
    FOR_EACH_CANDIDATE_IN(fluid_cell_start, terms.grid, home, j) {
        vec4 other = fluid_constraint[j];
        vec3 offset = (own.xyz - other.xyz) * inverse_h;
        float q2 = dot(offset, offset);
        if (q2 >= 1.0) continue;
        float q = sqrt(q2);
        correction += density_correction(own.w + other.w, offset, q);
        if (q < terms.contact_q) touching += contact_correction(terms, own_contact, fluid_contact[j], offset, q);
    }
    vec3 wall_correction = vec3(0.0);
    if (own.w != 0.0) {
        WallTerm wall = domain_term(terms.walls, own.xyz, terms.support_m);
        if (HAS_BODIES != 0u) add_bodies(wall, boundary_density[i]);
        wall_correction = own.w * wall.gradient_h;
    }
    vec3 total = terms.over_relaxation * (SPLINE_SLOPE_SCALE * terms.volume_h3 * correction + wall_correction) + touching;
    vec3 free = own.xyz + terms.support_m * total + stretch_correction(terms, i, own.xyz, own_contact);
    vec3 x = confine(terms.walls, free);
    predicted[i] = x;
    push_m[i] = (is_first != 0u ? vec3(0.0) : push_m[i]) + (x - free);
}
