// Surfaces that snow meets: planes, balls, vessels, boxes and heightfields, some of them moving, and the walls of the domain.
//
// Needs buffers `colliders` of MpmCollider and `heights` of float, and, for its macros, the constant HAS_COLLIDERS: where there are none, no
// instruction is spent on them.
#ifndef MPM_COLLIDERS
#define MPM_COLLIDERS
#include "mpm/collider.glsl"

vec3 turn(vec4 q, vec3 v) {
    vec3 t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}

vec3 turn_back(vec4 q, vec3 v) { return turn(vec4(-q.xyz, q.w), v); }

vec3 unit_or(vec3 v, vec3 otherwise) {
    float len = sqrt(dot(v, v));
    return len > 0.0 ? v / len : otherwise;
}

vec4 box_surface(vec3 local, vec3 half_size) {
    vec3 q = abs(local) - half_size;
    if (DIMENSIONS == 2u) q.z = min(q.x, q.y);
    vec3 side = vec3(local.x < 0.0 ? -1.0 : 1.0, local.y < 0.0 ? -1.0 : 1.0, local.z < 0.0 ? -1.0 : 1.0);
    vec3 outside = max(q, vec3(0.0));
    if (DIMENSIONS == 2u) outside.z = 0.0;
    float distance = sqrt(dot(outside, outside));
    if (distance > 0.0) return vec4(side * outside / distance, distance);
    // Inside, the nearest face.
    float nearest = DIMENSIONS == 3u ? max(q.x, max(q.y, q.z)) : max(q.x, q.y);
    vec3 face = q.x == nearest ? vec3(1.0, 0.0, 0.0) : q.y == nearest ? vec3(0.0, 1.0, 0.0) : vec3(0.0, 0.0, 1.0);
    return vec4(side * face, nearest);
}

// Height and slopes along the two level axes; beyond the edge the edge goes on level.
vec3 height_at(MpmCollider field, vec2 level_m) {
    vec2 cell = level_m / field.extent.x;
    vec2 last = vec2(field.n_heights - 1u);
    vec2 inside = clamp(cell, vec2(0.0), last);
    uvec2 low = uvec2(min(inside, max(last - 1.0, vec2(0.0))));
    vec2 t = inside - vec2(low);
    uvec2 high = min(low + 1u, field.n_heights - 1u);
    float h00 = heights[field.first_height + low.y * field.n_heights.x + low.x];
    float h10 = heights[field.first_height + low.y * field.n_heights.x + high.x];
    float h01 = heights[field.first_height + high.y * field.n_heights.x + low.x];
    float h11 = heights[field.first_height + high.y * field.n_heights.x + high.x];
    vec2 slope = vec2(mix(h10 - h00, h11 - h01, t.y), mix(h01 - h00, h11 - h10, t.x)) / field.extent.x;
    slope *= vec2(equal(inside, cell));
    return vec3(mix(mix(h00, h10, t.x), mix(h01, h11, t.x), t.y), slope);
}

vec4 heightfield_surface(MpmTerms terms, MpmCollider field, vec3 local) {
    uint up = terms.up_axis;
    uint first = up == 0u ? 1u : 0u;
    uint second = up == 2u ? 1u : 2u;
    vec3 at = height_at(field, vec2(local[first], DIMENSIONS == 3u ? local[second] : 0.0));
    vec3 normal = vec3(0.0);
    normal[up] = 1.0;
    normal[first] = -at.y;
    if (DIMENSIONS == 3u) normal[second] = -at.z;
    normal /= sqrt(dot(normal, normal));
    return vec4(normal, (local[up] - at.x) * normal[up]);
}

// (unit normal towards the snow, signed distance in m, negative inside the body) at a time.
vec4 surface_of(MpmTerms terms, MpmCollider body, vec3 x_m, float time_s) {
    vec3 way = body.velocity_m_s * clamp(time_s - body.from_s, 0.0, body.until_s - body.from_s);
    vec3 local = x_m - body.origin_m - way;
    if (DIMENSIONS == 2u) local.z = 0.0;
    vec3 up = vec3(0.0);
    up[terms.up_axis] = 1.0;
    if (body.kind == PLANE) return vec4(body.extent, dot(body.extent, local));
    if (body.kind == BALL) return vec4(unit_or(local, up), sqrt(dot(local, local)) - body.extent.x);
    if (body.kind == VESSEL) return vec4(-unit_or(local, up), body.extent.x - sqrt(dot(local, local)));
    if (body.kind == BOX) {
        vec4 surface = box_surface(turn_back(body.rotation, local), body.extent);
        return vec4(turn(body.rotation, surface.xyz), surface.w);
    }
    return heightfield_surface(terms, body, local);
}

vec3 velocity_of(MpmCollider body, float time_s) {
    return time_s >= body.from_s && time_s < body.until_s ? body.velocity_m_s : vec3(0.0);
}

// An inelastic collision with Coulomb friction (004 sec 3.2.5).
vec3 collide(vec3 v, vec3 normal, vec3 body_velocity, float friction, bool is_sticky) {
    if (is_sticky) return body_velocity;
    vec3 relative = v - body_velocity;
    float along = dot(relative, normal);
    if (along >= 0.0) return v;
    vec3 tangent = relative - along * normal;
    float speed = sqrt(dot(tangent, tangent));
    if (speed <= -friction * along) return body_velocity;
    return body_velocity + tangent * (1.0 + friction * along / speed);
}

// 1 at or behind the lower wall of an axis, −1 at or behind the upper one.
float wall_side(MpmTerms terms, vec3 x_m, uint axis) {
    return x_m[axis] <= terms.domain_min_m[axis] ? 1.0 : x_m[axis] >= terms.domain_max_m[axis] ? -1.0 : 0.0;
}

vec3 collide_with_walls(MpmTerms terms, vec3 x_m, vec3 v) {
    for (uint axis = 0u; axis < DIMENSIONS; ++axis) {
        float side = wall_side(terms, x_m, axis);
        if (side == 0.0) continue;
        vec3 normal = vec3(0.0);
        normal[axis] = side;
        v = collide(v, normal, vec3(0.0), terms.wall_friction, terms.walls_are_sticky != 0u);
    }
    return v;
}

// A velocity at x after collisions with all bodies, the walls of the domain last.
#define COLLIDE(terms, x_m, time_s, v)                                                                                       \
    if (HAS_COLLIDERS != 0u) for (uint k_ = 0u; k_ < terms.n_colliders; ++k_) {                                               \
        MpmCollider body_ = colliders[k_];                                                                                    \
        vec4 surface_ = surface_of(terms, body_, x_m, time_s);                                                                \
        if (surface_.w <= 0.0)                                                                                                \
            v = collide(v, surface_.xyz, velocity_of(body_, time_s), body_.friction, body_.is_sticky != 0u);                  \
    }                                                                                                                         \
    v = collide_with_walls(terms, x_m, v)

// A place pushed out of all bodies, and back into the domain (001 step 8).
#define PUSH_OUT(terms, x_m, time_s)                                                                                         \
    if (HAS_COLLIDERS != 0u) for (uint k_ = 0u; k_ < terms.n_colliders; ++k_) {                                               \
        vec4 surface_ = surface_of(terms, colliders[k_], x_m, time_s);                                                        \
        x_m -= min(surface_.w, 0.0) * surface_.xyz;                                                                           \
    }                                                                                                                         \
    x_m = min(max(x_m, terms.domain_min_m), terms.domain_max_m)

#endif
