#ifndef COMMON_VECTORS
#define COMMON_VECTORS

// The part of a vector that is square to a unit normal: the same bits with the other sign for the opposite vector.
vec3 tangential(vec3 v, vec3 normal) {
    precise vec3 rest = v - dot(v, normal) * normal;
    return rest;
}

#endif
