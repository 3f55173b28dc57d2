#version 460
// Computes the correction B of the weights of heat conduction around a particle (conduction.glsl): with it
// the second moments are those of a full neighbourhood on the lattice,
//   (s/2) Σ_j v_j (1 − q) q² (e·B·e) e⊗e = 1,
// over the images of neighbours behind the faces of the domain, too, with volumes v_j over water's. The
// dissipation of a linear field of temperature, summed over particles, is then exact, whatever walls and
// free surfaces cut off. Fatehi2011 corrects the sum of each particle in this way; shared by both ends of a
// pair, the correction keeps heat.
//
// These are six equations A B = 1 whose matrix is the fourth moments. Neighbours in a plane, on a line or
// none leave it singular, so B is the solution nearest to 1 in the sense of Tikhonov:
//   (A + ε) (B − 1) = 1 − A 1.
//
// Bytes: 44 a particle (x* 12, key 4, row 4, B 24) plus rows and neighbours from cache, images from cells.
// Sums run in sorted order.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "snow/conduction.glsl"

// ε: an order of magnitude below the moment of one neighbour at a spacing, 0.11 at h/d = 2.
const float REGULARIZATION = 0.01;

// 0 for a phase without another.
layout(constant_id = 1) const uint HAS_OTHER = 1;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Key { uint key[]; };
layout(scalar, binding = 2) readonly buffer CellStart { uint cell_start[]; };
layout(scalar, binding = 3) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 4) readonly buffer OtherCellStart { uint other_cell_start[]; };
layout(scalar, binding = 5) readonly buffer OtherPredicted { vec3 other_predicted[]; };
layout(scalar, binding = 6) writeonly buffer Corrections { Correction correction[]; };
layout(scalar, binding = 7) readonly buffer Rows { uint rows[]; };
layout(scalar, push_constant) uniform Params {
    Conduction conduction;
    // Volumes of particles of this phase and of the other, over that of which `moment_scale` is.
    float own_volume;
    float other_volume;
    // Flag in the rows, or INVALID_INDEX where there are none.
    uint row_flag;
};
#include "pbd/neighbours.glsl"

// Fourth moments: of the axes' squares with themselves (xxxx, yyyy, zzzz), the squares of yz, xz and xy, and
// x², y² and z² with yz, xz and xy.
struct Moments {
    vec3 squares;
    vec3 mixed;
    vec3 with_xx;
    vec3 with_yy;
    vec3 with_zz;
};

// Adds a neighbour of a volume at an offset in h, or its image. The particle itself has no direction; its
// images have.
void add_neighbour(inout Moments m, vec3 v, float volume) {
    float q2 = squared_length(v);
    if (q2 >= 1.0 || q2 < MIN_Q2) return;
    float weight = volume * (1.0 - sqrt(q2)) / q2;
    vec3 square = v * v;
    vec3 product = vec3(v.y * v.z, v.x * v.z, v.x * v.y);
    m.squares += weight * square * square;
    m.mixed += weight * product * product;
    m.with_xx += weight * square.x * product;
    m.with_yy += weight * square.y * product;
    m.with_zz += weight * square.z * product;
}

// Solves the symmetric, positive definite system by elimination; `a` is above the diagonal only, and `b`
// becomes the solution. All bounds of loops are constants: compilers leave arrays in memory otherwise.
void solve(inout float a[6][6], inout float b[6]) {
    [[unroll]] for (int k = 0; k < 6; ++k) {
        [[unroll]] for (int i = 1; i < 6; ++i) {
            if (i <= k) continue;
            float factor = a[k][i] / a[k][k];
            [[unroll]] for (int j = 1; j < 6; ++j)
                if (j >= i) a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    [[unroll]] for (int k = 5; k >= 0; --k) {
        [[unroll]] for (int j = 1; j < 6; ++j)
            if (j > k) b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 x = predicted[i];
    Row row = row_of(i, row_flag);
    Moments m = Moments(vec3(0.0), vec3(0.0), vec3(0.0), vec3(0.0), vec3(0.0));
    uint n_places = place_count(near_faces(conduction, home_of(conduction.grid, key[i])));
    [[dont_unroll]] for (uint place = 0u; place < n_places; ++place) {
        // Computed again for each place: a GPU has no registers to keep these in beside the moments.
        uvec3 home = home_of(conduction.grid, key[i]);
        Image image = image_of(conduction, near_faces(conduction, home), home, place);
        Reflection reflection = reflection_at(conduction, image);
        Row here = place == 0u ? row : no_row();
        Cells cells = here.is_listed ? Cells(uvec3(0u), uvec3(0u)) : image.cells;
        FOR_EACH_NEIGHBOUR_IN_FLAT(here, here.own, cell_start, conduction.grid, cells, k) {
            vec3 x_j = predicted[NEIGHBOUR_AT(here, k)];
            add_neighbour(m, offset_from(reflection, conduction.inverse_h, x, x_j), own_volume);
        } END_NEIGHBOURS
        if (HAS_OTHER == 0u) continue;
        FOR_EACH_NEIGHBOUR_IN_FLAT(here, here.other, other_cell_start, conduction.grid, cells, k) {
            vec3 x_j = other_predicted[NEIGHBOUR_AT(here, k)];
            add_neighbour(m, offset_from(reflection, conduction.inverse_h, x, x_j), other_volume);
        } END_NEIGHBOURS
    }
    float s = conduction.moment_scale;
    vec3 squares = s * m.squares;
    vec3 mixed = s * m.mixed;
    vec3 xx = s * m.with_xx;
    vec3 yy = s * m.with_yy;
    vec3 zz = s * m.with_zz;
    // Rows and columns in the order xx, yy, zz, yz, xz, xy; elements off the tensor's diagonal count twice.
    float a[6][6];
    a[0] = float[](squares.x + REGULARIZATION, mixed.z, mixed.y, 2.0 * xx.x, 2.0 * xx.y, 2.0 * xx.z);
    a[1] = float[](0.0, squares.y + REGULARIZATION, mixed.x, 2.0 * yy.x, 2.0 * yy.y, 2.0 * yy.z);
    a[2] = float[](0.0, 0.0, squares.z + REGULARIZATION, 2.0 * zz.x, 2.0 * zz.y, 2.0 * zz.z);
    a[3] = float[](0.0, 0.0, 0.0, 4.0 * mixed.x + 2.0 * REGULARIZATION, 4.0 * zz.z, 4.0 * yy.y);
    a[4] = float[](0.0, 0.0, 0.0, 0.0, 4.0 * mixed.y + 2.0 * REGULARIZATION, 4.0 * xx.x);
    a[5] = float[](0.0, 0.0, 0.0, 0.0, 0.0, 4.0 * mixed.z + 2.0 * REGULARIZATION);
    vec3 second = squares + vec3(mixed.y + mixed.z, mixed.x + mixed.z, mixed.x + mixed.y);
    vec3 second_mixed = xx + yy + zz;
    float b[6] = float[](1.0 - second.x, 1.0 - second.y, 1.0 - second.z, -2.0 * second_mixed.x,
        -2.0 * second_mixed.y, -2.0 * second_mixed.z);
    solve(a, b);
    correction[i] = Correction(vec3(1.0 + b[0], 1.0 + b[1], 1.0 + b[2]), vec3(b[3], b[4], b[5]));
}
