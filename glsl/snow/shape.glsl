// Shape matching of linked neighbourhoods (Müller et al. 2005 on the links of Chen2021): a particle and the
// partners whose distances it has kept form a cluster, and the rotation that fits their rest positions best
// gives the goal of each. The stretch constraint alone only knows distances along links; a body that loses
// some of them at its edge twists (Chen2021 §8.1.4).
//
// A link belongs to the cluster if the distance of its ends' rest positions is the length at which it was
// made, so that links made between bodies, or after a body has yielded, do not pull it back into an older
// shape.
//
// Needs buffers partner, rest_length_m, degree, rest_position.

const float SHAPE_TOLERANCE = 0.1;

bool is_of_shape(uint at, vec3 rest_i, vec3 rest_j) {
    return abs(distance(rest_i, rest_j) - rest_length_m[at]) <= SHAPE_TOLERANCE * rest_length_m[at];
}

// Map from rest positions to goals: rotation · X + shift.
struct Fit {
    mat3 rotation;
    vec3 shift;
};
