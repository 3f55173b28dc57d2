// Surfaces of bodies: planes, spheres, boxes, cylinders, capsules, heightfields and meshes, solids or
// containers, static or moving.
//
// Needs a buffer `body_data` of float, and the constants DIMENSIONS and BODY_KINDS (common/body.glsl).
#ifndef COMMON_SURFACES
#define COMMON_SURFACES
#include "common/body.glsl"
#include "common/mesh.glsl"
#include "common/motion.glsl"
#include "common/quaternion.glsl"

bool is_kind(Body body, uint kind) { return (BODY_KINDS & (1u << kind)) != 0u && body.kind == kind; }

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
    // Inside, the nearest face counts.
    float nearest = DIMENSIONS == 3u ? max(q.x, max(q.y, q.z)) : max(q.x, q.y);
    vec3 face = q.x == nearest   ? vec3(1.0, 0.0, 0.0)
                : q.y == nearest ? vec3(0.0, 1.0, 0.0)
                                 : vec3(0.0, 0.0, 1.0);
    return vec4(side * face, nearest);
}

// Returns the height and the slopes along the two horizontal axes; beyond its edge a heightfield continues
// level.
vec3 height_at(Body field, vec2 level_m) {
    vec2 cell = level_m / field.extent.x;
    vec2 last = vec2(field.n_heights - 1u);
    vec2 inside = clamp(cell, vec2(0.0), last);
    uvec2 low = uvec2(min(inside, max(last - 1.0, vec2(0.0))));
    vec2 t = inside - vec2(low);
    uvec2 high = min(low + 1u, field.n_heights - 1u);
    float h00 = body_data[field.first_height + low.y * field.n_heights.x + low.x];
    float h10 = body_data[field.first_height + low.y * field.n_heights.x + high.x];
    float h01 = body_data[field.first_height + high.y * field.n_heights.x + low.x];
    float h11 = body_data[field.first_height + high.y * field.n_heights.x + high.x];
    vec2 slope = vec2(mix(h10 - h00, h11 - h01, t.y), mix(h01 - h00, h11 - h10, t.x)) / field.extent.x;
    slope *= vec2(equal(inside, cell));
    return vec3(mix(mix(h00, h10, t.x), mix(h01, h11, t.x), t.y), slope);
}

vec4 heightfield_surface(uint up, Body field, vec3 local) {
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

// Surface of an upright cylinder from its base to its top; the base itself has no surface.
vec4 upright_cylinder_surface(vec3 up, vec3 local, float radius_m, float height_m) {
    float above = dot(up, local);
    vec3 across = local - above * up;
    float radial_m = sqrt(dot(across, across));
    vec3 side = radial_m > 0.0 ? across / radial_m : up.yzx;
    vec2 past = vec2(radial_m - radius_m, above - height_m);
    vec2 outside = max(past, vec2(0.0));
    float distance = sqrt(dot(outside, outside));
    if (distance > 0.0) return vec4((outside.x * side + outside.y * up) / distance, distance);
    return past.x > past.y ? vec4(side, past.x) : vec4(up, past.y);
}

// Surface of a mesh. Beyond its reach the result is a lower bound of the distance, which is greater than the
// reach.
vec4 surface_of_mesh(Body body, vec3 local) {
    vec4 box = box_surface(local, body.extent);
    if (box.w > 0.0) return vec4(box.xyz, box.w + body_data[body.first_height]);
    float size_m = max(body.extent.x, max(body.extent.y, body.extent.z));
    return mesh_surface(body.first_height, body.n_heights.x, body.n_heights.y, size_m, local);
}

// Surface of a cylinder along y of its own axes, closed at both ends.
vec4 cylinder_surface(vec3 local, float radius_m, float half_length_m) {
    vec3 across = vec3(local.x, 0.0, local.z);
    float radial_m = sqrt(dot(across, across));
    vec3 side = radial_m > 0.0 ? across / radial_m : vec3(1.0, 0.0, 0.0);
    vec3 end = vec3(0.0, local.y < 0.0 ? -1.0 : 1.0, 0.0);
    vec2 past = vec2(radial_m - radius_m, abs(local.y) - half_length_m);
    vec2 outside = max(past, vec2(0.0));
    float distance = sqrt(dot(outside, outside));
    if (distance > 0.0) return vec4((outside.x * side + outside.y * end) / distance, distance);
    return past.x > past.y ? vec4(side, past.x) : vec4(end, past.y);
}

vec4 capsule_surface(vec3 local, float radius_m, float half_length_m) {
    vec3 offset = local - vec3(0.0, clamp(local.y, -half_length_m, half_length_m), 0.0);
    return vec4(unit_or(offset, vec3(1.0, 0.0, 0.0)), sqrt(dot(offset, offset)) - radius_m);
}

bool has_own_axes(Body body) {
    return is_kind(body, BOX) || is_kind(body, MESH) || is_kind(body, CYLINDER) || is_kind(body, CAPSULE);
}

// Returns the surface of a body with own axes, in those axes.
vec4 surface_in_own_axes(Body body, vec3 local) {
    if (is_kind(body, MESH)) return surface_of_mesh(body, local);
    if (is_kind(body, CYLINDER)) return cylinder_surface(local, body.extent.x, body.extent.y);
    if (is_kind(body, CAPSULE)) return capsule_surface(local, body.extent.x, body.extent.y);
    return box_surface(local, body.extent);
}

// Returns a position relative to the origin of a body, in the axes of the scene file.
vec3 local_position(Body body, Pose pose, vec3 x_m) {
    vec3 local;
    if (is_uniform(body))
        local = x_m - body.origin_m - pose.offset_m;
    else
        local = to_body_frame(pose, x_m) - body.origin_m;
    if (DIMENSIONS == 2u) local.z = 0.0;
    return local;
}

// Position as a sum. Its distance from a body is rounded like that distance, wherever both are.
struct Place {
    // A position at time 0, the displacement since, and a short vector from there.
    vec3 start_m;
    vec3 moved_m;
    vec3 rest_m;
};

vec3 local_position(Body body, Pose pose, Place place) {
    vec3 moved_m = place.moved_m - pose.offset_m;
    if (!is_rotating(body)) return (place.start_m - body.origin_m) + moved_m + place.rest_m;
    vec3 from_pivot_m = (place.start_m - pose.pivot_m) + moved_m + place.rest_m;
    return rotate_inverse(pose.rotation, from_pivot_m) + (pose.pivot_m - body.origin_m);
}

// Returns the surface of a body, as if it were solid, at a local position.
vec4 local_surface(uint up_axis, Body body, vec3 local) {
    vec3 up = vec3(0.0);
    up[up_axis] = 1.0;
    if (is_kind(body, PLANE)) return vec4(body.extent, dot(body.extent, local));
    if (is_kind(body, SPHERE)) return vec4(unit_or(local, up), sqrt(dot(local, local)) - body.extent.x);
    if (has_own_axes(body)) {
        vec4 surface = surface_in_own_axes(body, rotate_inverse(body.rotation, local));
        return vec4(rotate(body.rotation, surface.xyz), surface.w);
    }
    if (is_kind(body, UPRIGHT_CYLINDER))
        return upright_cylinder_surface(up, local, body.extent.x, body.extent.y);
    if (is_kind(body, HEIGHTFIELD)) return heightfield_surface(up_axis, body, local);
    return vec4(up, 0.0);
}

// Returns (unit normal towards the particles, signed distance in m, negative inside the solid) at a local
// position.
vec4 surface_at(uint up_axis, Body body, Pose pose, vec3 local) {
    vec4 surface = local_surface(up_axis, body, local);
    if (body.is_container != 0u) surface = -surface;
    if (is_rotating(body)) surface.xyz = rotate(pose.rotation, surface.xyz);
    return surface;
}

vec4 surface_of(uint up_axis, Body body, Pose pose, vec3 x_m) {
    return surface_at(up_axis, body, pose, local_position(body, pose, x_m));
}

vec4 surface_of(uint up_axis, Body body, Pose pose, Place place) {
    return surface_at(up_axis, body, pose, local_position(body, pose, place));
}

vec4 surface_of(uint up_axis, Body body, vec3 x_m, float time_s) {
    return surface_of(up_axis, body, pose_of(body, time_s), x_m);
}

#endif
