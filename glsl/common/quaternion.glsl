// Rotations as unit quaternions (x, y, z, w).
#ifndef COMMON_QUATERNION
#define COMMON_QUATERNION

vec3 rotate(vec4 q, vec3 v) {
    vec3 t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}

vec3 rotate_inverse(vec4 q, vec3 v) { return rotate(vec4(-q.xyz, q.w), v); }

// Returns the rotation b followed by a.
vec4 quaternion_product(vec4 a, vec4 b) {
    return vec4(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

#endif
