// Rotations as unit quaternions (x, y, z, w).
#ifndef COMMON_QUATERNION
#define COMMON_QUATERNION

const float TWO_PI = 6.28318530718;

vec3 rotate(vec4 q, vec3 v) {
    vec3 t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}

// Returns by how much a rotation moves v, without the loss of digits of a difference.
vec3 swing(vec4 q, vec3 v) {
    vec3 t = 2.0 * cross(q.xyz, v);
    return q.w * t + cross(q.xyz, t);
}

vec3 rotate_inverse(vec4 q, vec3 v) { return rotate(vec4(-q.xyz, q.w), v); }

// Returns the rotation b followed by a.
vec4 quaternion_product(vec4 a, vec4 b) {
    return vec4(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

// Returns (sin, cos) of an angle in turns. The built-in functions may be off by 2⁻¹¹, and differ between
// devices.
vec2 sin_cos_of_turns(float turns) {
    // Reduced to within an eighth of a turn of a multiple of a quarter.
    float quarter = roundEven(4.0 * turns);
    float a = TWO_PI * (turns - 0.25 * quarter);
    float a2 = a * a;
    float s = a * (1.0 + a2 * (-1.0 / 6.0 + a2 * (1.0 / 120.0 + a2 * (-1.0 / 5040.0 + a2 / 362880.0))));
    float c = 1.0 + a2 * (-0.5 + a2 * (1.0 / 24.0 + a2 * (-1.0 / 720.0 + a2 / 40320.0)));
    uint quadrant = uint(int(quarter)) & 3u;
    vec2 sc = (quadrant & 1u) == 0u ? vec2(s, c) : vec2(c, -s);
    return quadrant >= 2u ? -sc : sc;
}

vec4 quaternion_about(vec3 axis, float turns) {
    vec2 half_angle = sin_cos_of_turns(0.5 * turns);
    return vec4(half_angle.x * axis, half_angle.y);
}

#endif
