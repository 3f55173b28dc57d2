// Ellipsoid of a particle, relative to its centre the points p with |G p| ≤ 1, G symmetric.
struct Ellipsoid {
    vec3 center;
    // Longest semi-axis in m.
    float reach_m;
    // xx, yy, zz and xy, xz, yz of G in 1/m.
    vec3 diagonal;
    vec3 off_diagonal;
};
