// Heat conduction between particles of both phases (Chen2021 eq 6.1), for conduct.comp, conduct_enthalpy.comp
// and correct_conduction.comp; the viscoelastic fluid is a phase without another:
//   Σ_j V k_ij (T_j − T_i) ∇²W(x_ij),  k_ij = 2 k_i k_j / (k_i + k_j),  ∇²W = 45/(πh⁶) (h − r)
// The paper prints 4 k_i k_j / (k_i + k_j), which belongs to another form of the Laplacian: with this one,
// heat flows twice as fast as by Fourier's law. conduct.comp has it as `snow.heat.law = "printed"`. Every
// term has the opposite sign at the other end, so heat is conserved.
//
// Walls and free surfaces cut the kernel, and particles off the lattice change its sum. With IS_CORRECTED
// the sum is also over the images R x_j of neighbours behind the faces of the domain, and the weight of a
// pair, 1 − q, becomes
//   (1 − q) (c_i + c_j)/2,  c_i = e·B_i·e from 0 to the correction of a lone neighbour at one spacing,
// where e is the direction of x_i − R x_j and B_i makes the second moments of particle i those of a full
// neighbourhood (correct_conduction.comp). The image of j seen from i is as far as that of i seen from j, in
// the reflected direction, so both ends compute the same bits.

#include "common/images.glsl"

struct Conduction {
    Grid grid;
    float inverse_h;
    // Faces of the domain, which no heat passes unless their temperature is fixed, and a bit for each
    // periodic axis.
    vec3 domain_min_m;
    vec3 domain_max_m;
    uint periodic;
    // s/2, where s makes the Laplacian exact on the lattice, and the maximum of c_i.
    float moment_scale;
    float max_correction;
};

// Symmetric tensor B of a particle: its diagonal, and its yz, xz and xy.
struct Correction {
    vec3 diagonal;
    vec3 off_diagonal;
};

// Squared distance in h below which a pair has no direction.
const float MIN_Q2 = 1e-12;

float squared_length(vec3 v) {
    precise float q2 = v.x * v.x + v.y * v.y + v.z * v.z;
    return q2;
}

// Returns the offset between two particles in h.
vec3 offset_h(Conduction c, vec3 x, vec3 other_x) {
    precise vec3 offset = (x - other_x) * c.inverse_h;
    return offset;
}

// Returns (T_j − T_i)(1 − q), 0 from the support radius on: the pair without correction.
float warmth_from(Conduction c, vec3 x, float t, vec3 other_x, float other_t) {
    float q2 = squared_length(offset_h(c, x, other_x));
    return q2 < 1.0 ? (other_t - t) * (1.0 - sqrt(q2)) : 0.0;
}

Faces near_faces(Conduction c, uvec3 home) { return near_faces(c.grid, c.domain_max_m, home); }

Image image_of(Conduction c, Faces faces, uvec3 home, uint place) {
    return image_of(c.grid, c.domain_max_m, c.periodic, faces, home, place);
}

Reflection reflection_at(Conduction c, Image image) {
    return reflection_at(c.domain_min_m, c.domain_max_m, c.periodic, image.sides);
}

// Returns c: e·B·e along an offset. The same bits for the opposite offset.
float correction_along(Conduction c, Correction b, vec3 v, float q2) {
    precise float mixed = b.off_diagonal.x * (v.y * v.z) + b.off_diagonal.y * (v.x * v.z) +
        b.off_diagonal.z * (v.x * v.y);
    precise float form = b.diagonal.x * (v.x * v.x) + b.diagonal.y * (v.y * v.y) +
        b.diagonal.z * (v.z * v.z) + 2.0 * mixed;
    return q2 < MIN_Q2 ? 1.0 : clamp(form / q2, 0.0, c.max_correction);
}

// Returns the corrected weight of a neighbour, or of its image, whose offset is within the support radius.
float weight_of(Conduction c, vec3 offset, vec3 reflection, Correction own, Correction other) {
    float q2 = squared_length(offset);
    precise float ends =
        correction_along(c, own, offset, q2) + correction_along(c, other, offset * reflection, q2);
    precise float weight = (1.0 - sqrt(q2)) * (0.5 * ends);
    return weight;
}
