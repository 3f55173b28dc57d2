// Shared functions for decompositions of small matrices: scaling, unit vectors, symmetry.
//
// Values that depend on one another by products and sums are `precise`: a function then gives the same bits
// in every kernel that includes it, because no kernel contracts a product and a sum that another rounds
// separately.
#ifndef LINALG_MATRIX
#define LINALG_MATRIX

// Returns the bits of the maximum magnitude in a matrix. The bits of positive floats sort like their values,
// with infinity and NaN last, so this finds NaN even if the compiler assumes that there is none.
uint magnitude_bits(mat2 m) {
    uvec2 bits = max(floatBitsToUint(m[0]) & 0x7fffffffu, floatBitsToUint(m[1]) & 0x7fffffffu);
    return max(bits.x, bits.y);
}

uint magnitude_bits(mat3 m) {
    uvec3 bits = max(floatBitsToUint(m[0]) & 0x7fffffffu, floatBitsToUint(m[1]) & 0x7fffffffu);
    bits = max(bits, floatBitsToUint(m[2]) & 0x7fffffffu);
    return max(bits.x, max(bits.y, bits.z));
}

bool is_finite(uint magnitude) { return magnitude < 0x7f800000u; }

bool is_finite_vector(vec3 v) {
    uvec3 bits = floatBitsToUint(v) & 0x7fffffffu;
    return is_finite(max(bits.x, max(bits.y, bits.z)));
}

float not_a_number() { return uintBitsToFloat(0x7fc00000u); }

// Returns a power of two that scales a magnitude to about 1, and its inverse. Products with them are exact,
// squares of scaled values neither overflow nor vanish, and neither factor is denormal.
vec2 unit_scale(uint magnitude) {
    int field = clamp(254 - int(magnitude >> 23), 1, 253);
    return vec2(uintBitsToFloat(uint(field) << 23), uintBitsToFloat(uint(254 - field) << 23));
}

// Returns (x, y)/length, and the length; (1, 0) and 0 for a vector too short to have a direction.
vec3 unit2(vec2 x) {
    precise float squared = x.x * x.x + x.y * x.y;
    precise float len = sqrt(squared);
    precise vec2 direction = x / len;
    return len > 0.0 ? vec3(direction, len) : vec3(1.0, 0.0, 0.0);
}

vec3 unit3(vec3 x) {
    precise vec3 direction = x / sqrt(dot(x, x));
    return direction;
}

// Returns a unit vector perpendicular to a unit vector; for (1, 0, 0) it is (0, 1, 0).
vec3 perpendicular(vec3 u) { return unit3(abs(u.z) < 0.6 ? vec3(-u.y, u.x, 0.0) : vec3(0.0, -u.z, u.y)); }

mat2 rotation2(vec2 cos_sin) { return mat2(cos_sin.x, cos_sin.y, -cos_sin.y, cos_sin.x); }

// Returns (S + Sᵀ)/2, symmetric to the last bit.
mat2 symmetric(mat2 s) { return 0.5 * s + 0.5 * transpose(s); }
mat3 symmetric(mat3 s) { return 0.5 * s + 0.5 * transpose(s); }

#endif
