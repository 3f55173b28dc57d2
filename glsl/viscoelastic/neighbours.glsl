// Neighbours of a viscoelastic particle at x*, and their images: copies beyond periodic faces, and
// reflections in faces to which the fluid sticks, which move oppositely. Slipping faces have no images.
//
// Weights are w = −W′(q)/q of the cubic spline up to a factor, so that the gradient with the corrected kernel
// (Bonet1999) is that of least squares with these weights.
#ifndef VISCOELASTIC_NEIGHBOURS
#define VISCOELASTIC_NEIGHBOURS
#include "sph/kernels.glsl"
#include "common/images.glsl"
#include "pbd/neighbour_rows.glsl"

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

// Calls `add_neighbour(sums, j, offset, q, sides)` for each neighbour of particle i, with offset = (x_j −
// x_i)/h.
#define VISIT_NEIGHBOURS(t, i, x, sums)                                                                       \
    {                                                                                                         \
        float inverse_h_ = 1.0 / (t).support_m;                                                               \
        uint own_row_ = HAS_ROWS != 0u && has_moved[MOVED_IN_STEP] == 0u ? row[i] : ROW_TOO_SHORT;            \
        if (own_row_ != ROW_TOO_SHORT) {                                                                      \
            uint row_stride_ = neighbour.length() / ROW_SLOTS;                                                \
            uint n_own_ = own_row_ & 0xffffu;                                                                 \
            for (uint slot_ = 0u; slot_ < n_own_; ++slot_) {                                                  \
                uint j_ = neighbour[slot_ * row_stride_ + i];                                                 \
                vec3 offset_ = (predicted[j_] - x) * inverse_h_;                                              \
                float q2_ = dot(offset_, offset_);                                                            \
                if (q2_ < 1.0 && q2_ > 0.0) add_neighbour(sums, j_, offset_, sqrt(q2_), uvec3(0u));           \
            }                                                                                                 \
            [[dont_unroll]] for (uint slot_ = n_own_; slot_ < own_row_ >> 16; ++slot_) {                      \
                uint entry_ = neighbour[slot_ * row_stride_ + i];                                             \
                uvec3 sides_ = row_sides(entry_);                                                             \
                if (is_joined(t, sides_)) add_image(sums, row_particle(entry_), sides_, x, inverse_h_);       \
            }                                                                                                 \
        } else {                                                                                              \
            uvec3 home_ = home_of((t).grid, key[i]);                                                          \
            FOR_EACH_CANDIDATE((t).grid, home_, j_) {                                                         \
                vec3 offset_ = (predicted[j_] - x) * inverse_h_;                                              \
                float q2_ = dot(offset_, offset_);                                                            \
                if (q2_ < 1.0 && q2_ > 0.0) add_neighbour(sums, j_, offset_, sqrt(q2_), uvec3(0u));           \
            }                                                                                                 \
            Faces faces_ = near_faces((t).grid, (t).domain_max_m, home_);                                     \
            uint n_places_ = place_count(faces_);                                                             \
            [[dont_unroll]] for (uint place_ = 1u; place_ < n_places_; ++place_) {                            \
                Image image_ = image_of((t).grid, (t).domain_max_m, (t).periodic, faces_, home_, place_);     \
                if (!is_joined(t, image_.sides)) continue;                                                    \
                FOR_EACH_IN_CELLS(cell_start, (t).grid, image_.cells, j_)                                     \
                    add_image(sums, j_, image_.sides, x, inverse_h_);                                         \
            }                                                                                                 \
        }                                                                                                     \
    }

#endif
