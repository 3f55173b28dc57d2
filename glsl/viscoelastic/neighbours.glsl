// Neighbours of a viscoelastic particle at x*, and their images: copies beyond periodic faces, and
// reflections in faces to which the fluid sticks, which move oppositely. Slipping faces have no images.
//
// Weights are w = −W′(q)/q of the cubic spline up to a factor, so that the gradient with the corrected kernel
// (Bonet1999) is that of least squares with these weights.
#ifndef VISCOELASTIC_NEIGHBOURS
#define VISCOELASTIC_NEIGHBOURS
#include "sph/kernels.glsl"
#include "common/images.glsl"

// Returns w at a distance of q in h, 0 < q < 1. Below a half u² − 4v² is 2q − 3q², whose quotient by q would
// lose all digits of close pairs.
float pair_weight(float q) { return q < 0.5 ? 2.0 - 3.0 * q : (1.0 - q) * (1.0 - q) / q; }

// Effect of faces on the vectors of an image: signs of the components of positions and of velocities.
struct ImageSigns {
    vec3 position;
    vec3 velocity;
};

// Returns true if the fluid has images behind these faces.
bool is_joined(ViscoelasticTerms t, uvec3 sides) {
    bool joined = true;
    [[unroll]] for (int axis = 0; axis < 3; ++axis) {
        if (sides[axis] == 0u || bitfieldExtract(t.periodic, axis, 1) != 0u) continue;
        int face = sides[axis] == 1u ? axis : axis + 3;
        joined = joined && bitfieldExtract(t.sticky_faces, face, 1) != 0u;
    }
    return joined;
}

ImageSigns signs_of(ViscoelasticTerms t, uvec3 sides) {
    bvec3 is_own = equal(sides, uvec3(0u));
    bvec3 is_copy = notEqual(t.periodic & uvec3(1u, 2u, 4u), uvec3(0u));
    vec3 position = mix(mix(vec3(-1.0), vec3(1.0), is_copy), vec3(1.0), is_own);
    return ImageSigns(position, vec3(position.x * position.y * position.z));
}

// Returns true if an image is behind a wall across y.
bool is_wall_y(ViscoelasticTerms t, uvec3 sides) { return sides.y != 0u && (t.periodic & 2u) == 0u; }

// Velocity along x of the faces beside an image, for whose image of a velocity v is 2 u − v.
float face_velocity(uvec3 sides, float wall_speed_m_s) {
    return sides.y == 0u ? 0.0 : sides.y == 1u ? -wall_speed_m_s : wall_speed_m_s;
}

// 1 for one loop over all neighbours, and one over all images (pbd/neighbours.glsl): a software device keeps
// nothing in registers, and nested loops cost it less.
layout(constant_id = 9) const uint FLAT_LOOPS = 1;

// Calls `add_neighbour(sums, j, offset, q, sides)` for each neighbour of particle i, with offset = (x_j −
// x_i)/h, and `add_image` (image.glsl) for each image.
#define VISIT_NEIGHBOURS(t, i, x, sums)                                                                      \
    {                                                                                                        \
        float inverse_h_ = 1.0 / (t).support_m;                                                              \
        Row row_at_ = row_of(i, MOVED_IN_STEP);                                                              \
        if (FLAT_LOOPS != 0u) {                                                                              \
            FOR_EACH_NEIGHBOUR_FLAT(row_at_, row_at_.own, cell_start, (t).grid,                              \
                                    home_of((t).grid, key[i]), k_) {                                         \
                VISIT_NEIGHBOUR(k_, row_at_, x, inverse_h_, sums)                                            \
            } END_NEIGHBOURS                                                                                 \
            FOR_EACH_IMAGE_FLAT(row_at_, cell_start, (t).grid, (t).domain_max_m, (t).periodic,               \
                                home_of((t).grid, key[i]), k_) {                                             \
                VISIT_IMAGE(t, k_, row_at_, image_, x, inverse_h_, sums)                                     \
            } END_NEIGHBOURS                                                                                 \
        } else {                                                                                             \
            uvec3 home_ = home_of((t).grid, key[i]);                                                         \
            FOR_EACH_NEIGHBOUR(row_at_, row_at_.own, cell_start, (t).grid, home_, k_) {                      \
                VISIT_NEIGHBOUR(k_, row_at_, x, inverse_h_, sums)                                            \
            }                                                                                                \
            uint n_places_ = image_places(row_at_, (t).grid, (t).domain_max_m, home_);                       \
            [[dont_unroll]] for (uint place_ = 1u; place_ < n_places_; ++place_) {                           \
                Image image_ = image_place(row_at_, (t).grid, (t).domain_max_m, (t).periodic, home_, place_);\
                FOR_EACH_NEIGHBOUR_IN(row_at_, row_at_.other, cell_start, (t).grid, image_.cells, k_) {      \
                    VISIT_IMAGE(t, k_, row_at_, image_, x, inverse_h_, sums)                                 \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }

#define VISIT_NEIGHBOUR(k, row, x, inverse_h, sums)                                                          \
    uint j_ = NEIGHBOUR_AT(row, k);                                                                          \
    vec3 offset_ = (predicted[j_] - x) * inverse_h;                                                          \
    float q2_ = dot(offset_, offset_);                                                                       \
    if (q2_ < 1.0 && q2_ > 0.0) add_neighbour(sums, j_, offset_, sqrt(q2_), uvec3(0u));

#define VISIT_IMAGE(t, k, row, image, x, inverse_h, sums)                                                    \
    uint entry_ = NEIGHBOUR_AT(row, k);                                                                      \
    uvec3 sides_ = image_sides(row, image, entry_);                                                          \
    uint j_ = image_particle(row, entry_);                                                                   \
    if (is_joined(t, sides_)) add_image(sums, j_, sides_, x, inverse_h);

#endif
