// Shape matching of linked neighbourhoods (Müller et al. 2005 on the links of Chen2021): a particle and the partners it has kept its
// distances to make a cluster, and the rotation that fits their rest positions best says where each of them belongs. The stretch
// constraint alone knows distances along links; a body that loses some of them at its edge twists (Chen2021 §8.1.4).
//
// A link belongs to the cluster if the rest positions of its ends are as far apart as the link was made, so that links made between
// bodies, or after a body has yielded, do not pull it back into an older shape.
//
// Needs buffers partner, rest_length_m, degree, rest_position.

const float SHAPE_TOLERANCE = 0.1;

bool is_of_shape(uint at, vec3 rest_i, vec3 rest_j) {
    return abs(distance(rest_i, rest_j) - rest_length_m[at]) <= SHAPE_TOLERANCE * rest_length_m[at];
}

// Where the fit puts a rest position: rotation · X + shift.
struct Fit {
    mat3 rotation;
    vec3 shift;
};
