#version 460
// Applies position-based friction of snow on snow and on the domain's walls, after the iterations (Chen2021
// eq 5.21, 5.22): Δx_⊥ = tangential part of (x*_i − x_i) − (x*_j − x_j);  Δx_i = −½ Δx_⊥ if it is below
// μ_s d, else −½ Δx_⊥ min(μ_k d/|Δx_⊥|, 1) with d the distance by which non-penetration has separated the
// pair in this step: Coulomb's law bounds friction by the normal force, and the overlap that the paper uses
// here represents that force only if one iteration removes all of it. For a spring d = 2 Δt²/m F; linked
// pairs then have no contact and no friction.
//
// Each of several contacts removes its share of the slip, since corrections are averaged. On walls d is the
// displacement by the walls; faces may have their own μ. Bytes: 92 a particle (x* 12, x 12, v 12, contact 8,
// push 12, key 4, row 4, residual 24, out 12) plus rows and neighbours from cache. Sums run in sorted order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
// 1 if faces of the domain have their own friction.
layout(constant_id = 1) const uint HAS_FACE_FRICTION = 0;
#include "pbd/motion.glsl"
#include "snow/terms.glsl"
#include "snow/volume.glsl"
#include "snow/friction.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 4) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 5) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 6) readonly buffer Contact { vec2 contact[]; };
layout(scalar, binding = 7) readonly buffer Push { vec3 push_m[]; };
layout(scalar, binding = 8) readonly buffer Terms { SnowTerms all_terms[]; };
layout(scalar, binding = 9) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 10) writeonly buffer Corrected { vec3 corrected[]; };
layout(scalar, binding = 11) readonly buffer Rows { uint rows[]; };
layout(scalar, binding = 12) buffer Residual { vec3 residual_m[]; };

layout(scalar, push_constant) uniform Params {
    // μ of the lower and of the upper faces of the domain, by axis; negative: that of snow.
    vec3 lower_friction;
    vec3 upper_friction;
    // Flag in the rows, or INVALID_INDEX where there are none.
    uint row_flag;
};
#include "pbd/neighbours.glsl"

// Returns (μ_s, μ_k) of the faces of the domain that have displaced a particle: the mean, weighted by the
// squares of the displacements.
vec2 face_friction(vec2 of_snow, vec3 push, float pressed) {
    if (HAS_FACE_FRICTION == 0u) return of_snow;
    vec2 sum = vec2(0.0);
    [[unroll]] for (int axis = 0; axis < 3; ++axis) {
        float own = push[axis] > 0.0 ? lower_friction[axis] : upper_friction[axis];
        sum += push[axis] * push[axis] * (own >= 0.0 ? vec2(own) : of_snow);
    }
    return sum / (pressed * pressed);
}

bool is_linked(SnowTerms terms, uint i, uint j) {
    for (uint slot = 0u; slot < terms.link_slots; ++slot) {
        uint other = partner[slot * terms.link_stride + i];
        if (other == j) return true;
        if (other == INVALID_INDEX) break;
    }
    return false;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    SnowTerms terms = all_terms[0];
    float static_friction = terms.static_friction;
    float kinetic_friction = terms.kinetic_friction;
    vec3 x = predicted[i];
    vec3 slid = x - position[i];
    vec2 own_contact = contact[i];
    uvec3 home = home_of(terms.grid, key[i]);
    Row row = row_of(i, row_flag);
    float contact_m = terms.contact_q * terms.support_m;
    vec3 correction = vec3(0.0);
    FOR_EACH_NEIGHBOUR_FLAT(row, row.own, cell_start, terms.grid, home, k) {
        uint j = NEIGHBOUR_AT(row, k);
        vec3 offset = x - predicted[j];
        float r2 = dot(offset, offset);
        if (r2 >= contact_m * contact_m || j == i || r2 == 0.0) continue;
        float r = sqrt(r2);
        float overlap_m = contact_distance(terms.contact_q, own_contact, contact[j]) * terms.support_m - r;
        if (overlap_m <= 0.0) continue;
        float pressed_m;
        if (terms.contact_spring > 0.0) {
            if (terms.link_spring > 0.0 && is_linked(terms, i, j)) continue;
            pressed_m = 2.0 * terms.contact_spring * min(own_contact.x, contact[j].x) * overlap_m;
        } else {
            float gain = pair_gain(terms, own_contact, contact[j]);
            pressed_m = float(terms.iterations) * terms.bounce * gain * overlap_m;
        }
        vec3 slip = tangential(slid - (predicted[j] - position[j]), offset / r);
        float sharers = max(own_contact.y, contact[j].y);
        vec3 removed = coulomb(slip / sharers, pressed_m, static_friction, kinetic_friction);
        correction -= 0.5 * min(own_contact.x, contact[j].x) * removed;
    } END_NEIGHBOURS
    // The displacement by walls in the iterations, and before them in the prediction.
    vec3 push = push_m[i];
    if (terms.contact_spring == 0.0 && terms.link_spring == 0.0) {
        vec3 unconfined = position[i] + terms.dt_s * velocity[i];
        vec3 confined = confine(terms.walls, unconfined);
        push += confined - unconfined;
    }
    float pressed = length(push);
    if (pressed > 0.0) {
        vec3 normal = push / pressed;
        vec3 slip = tangential(slid + correction, normal);
        vec2 friction = face_friction(vec2(static_friction, kinetic_friction), push, pressed);
        correction -= own_contact.x * coulomb(slip, pressed, friction.x, friction.y);
    }
    vec3 rest_m;
    vec3 free = added(x, residual_m[i], correction, rest_m);
    vec3 confined = confine(walls_of_snow(terms, own_contact.x), free);
    corrected[i] = confined;
    residual_m[i] = residual_after(rest_m, free, confined);
}
