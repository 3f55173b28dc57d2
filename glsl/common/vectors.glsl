// Vectors.
#ifndef COMMON_VECTORS
#define COMMON_VECTORS

// Returns the part of a vector across a unit normal.
vec3 tangential(vec3 v, vec3 normal) {
    precise vec3 rest = v - dot(v, normal) * normal;
    return rest;
}

// Adds by compensated summation (Kahan): the exact sum is `sum` less `rounding`.
void add_compensated(inout vec3 sum, inout vec3 rounding, vec3 added) {
    precise vec3 term = added - rounding;
    precise vec3 total = sum + term;
    precise vec3 gained = total - sum;
    precise vec3 rest = gained - term;
    rounding = rest;
    sum = total;
}

#endif
