// Matrices of particles in columns: DIMENSIONS² numbers, column by column; symmetric ones as (xx, yy, xy) or
// (xx, yy, zz, xy, xz, yz).
#ifndef MPM_TENSORS
#define MPM_TENSORS

const uint MATRIX_WORDS = DIMENSIONS * DIMENSIONS;
const uint SYMMETRIC_WORDS = DIMENSIONS * (DIMENSIONS + 1u) / 2u;

// Products that skip the components missing in a plane: a compiler may not drop a product with 0.
vec3 times(mat3 m, vec3 v) { return DIMENSIONS == 3u ? m * v : vec3(m[0].xy * v.x + m[1].xy * v.y, 0.0); }

mat3 times(mat3 a, mat3 b) {
    if (DIMENSIONS == 3u) return a * b;
    return mat3(times(a, b[0]), times(a, b[1]), vec3(0.0, 0.0, a[2].z * b[2].z));
}

mat3 outer_product(vec3 a, vec3 b) {
    if (DIMENSIONS == 3u) return outerProduct(a, b);
    return mat3(vec3(a.xy * b.x, 0.0), vec3(a.xy * b.y, 0.0), vec3(0.0));
}

vec3 scaled(float s, vec3 v) { return DIMENSIONS == 3u ? s * v : vec3(s * v.xy, 0.0); }

// `zz` is the value in the corner that is missing in a plane.
#define LOAD_MATRIX(column, i, zz)                                                                           \
    (DIMENSIONS == 3u                                                                                        \
         ? mat3(column[9u * i], column[9u * i + 1u], column[9u * i + 2u], column[9u * i + 3u],               \
                column[9u * i + 4u], column[9u * i + 5u], column[9u * i + 6u], column[9u * i + 7u],          \
                column[9u * i + 8u])                                                                         \
         : mat3(column[4u * i], column[4u * i + 1u], 0.0, column[4u * i + 2u], column[4u * i + 3u], 0.0,     \
                0.0, 0.0, zz))

#define STORE_MATRIX(column, i, m)                                                                           \
    for (uint c_ = 0u; c_ < DIMENSIONS; ++c_)                                                                \
        for (uint r_ = 0u; r_ < DIMENSIONS; ++r_) column[MATRIX_WORDS * i + DIMENSIONS * c_ + r_] = m[c_][r_]

// The rows of a symmetric matrix are its columns.
#define LOAD_SYMMETRIC(column, i)                                                                            \
    (DIMENSIONS == 3u                                                                                        \
         ? mat3(column[6u * i], column[6u * i + 3u], column[6u * i + 4u], column[6u * i + 3u],               \
                column[6u * i + 1u], column[6u * i + 5u], column[6u * i + 4u], column[6u * i + 5u],          \
                column[6u * i + 2u])                                                                         \
         : mat3(column[3u * i], column[3u * i + 2u], 0.0, column[3u * i + 2u], column[3u * i + 1u], 0.0,     \
                0.0, 0.0, 0.0))

#define STORE_SYMMETRIC(column, i, m)                                                                        \
    column[SYMMETRIC_WORDS * i] = m[0][0];                                                                   \
    column[SYMMETRIC_WORDS * i + 1u] = m[1][1];                                                              \
    if (DIMENSIONS == 3u) {                                                                                  \
        column[SYMMETRIC_WORDS * i + 2u] = m[2][2];                                                          \
        column[SYMMETRIC_WORDS * i + 3u] = m[0][1];                                                          \
        column[SYMMETRIC_WORDS * i + 4u] = m[0][2];                                                          \
        column[SYMMETRIC_WORDS * i + 5u] = m[1][2];                                                          \
    } else {                                                                                                 \
        column[SYMMETRIC_WORDS * i + 2u] = m[0][1];                                                          \
    }

#endif
