// Vectors.
#ifndef COMMON_VECTORS
#define COMMON_VECTORS

// Returns the part of a vector across a unit normal.
vec3 tangential(vec3 v, vec3 normal) {
    precise vec3 rest = v - dot(v, normal) * normal;
    return rest;
}

#endif
