// Mechanics of rigid bodies: inertia and rotation.
#ifndef COMMON_RIGID
#define COMMON_RIGID
#include "common/quaternion.glsl"

// Returns the product of a symmetric matrix, given by its diagonal and its elements yz, zx and xy, with v.
vec3 symmetric_product(vec3 diagonal, vec3 rest, vec3 v) {
    return diagonal * v +
           vec3(rest.z * v.y + rest.y * v.z, rest.z * v.x + rest.x * v.z, rest.y * v.x + rest.x * v.y);
}

// Returns I⁻¹ v of a body rotated by q, with I⁻¹ in the body's own axes.
vec3 by_inverse_inertia(vec3 diagonal, vec3 rest, vec4 q, vec3 v) {
    return rotate(q, symmetric_product(diagonal, rest, rotate_inverse(q, v)));
}

// Returns q after a rotation by the rotation vector `angle_rad`.
vec4 after_turn(vec4 q, vec3 angle_rad) {
    float size = sqrt(dot(angle_rad, angle_rad));
    if (size == 0.0) return q;
    vec4 product = quaternion_product(quaternion_about(angle_rad / size, size / TWO_PI), q);
    return product / sqrt(dot(product, product));
}

// Returns the rotation vector of a unit quaternion: along the axis, as long as the angle in rad.
vec3 rotation_vector(vec4 q) {
    vec4 near = q.w < 0.0 ? -q : q;
    float size = sqrt(dot(near.xyz, near.xyz));
    // For small rotations the half angle equals its sine.
    return (size > 1e-6 ? 2.0 * atan(size, near.w) / size : 2.0) * near.xyz;
}

#endif
