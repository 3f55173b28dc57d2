// A link of two pieces of a slab: a beam as large as the face that they share (the parallel bond of Potyondy & Cundall 2004, Int. J. Rock Mech.
// Min. Sci. 41, 1329), taken as a square.
struct PieceLink {
    uint first;
    uint second;
    // The middle of the face from both centres, and its normal from the first to the second, all along the axes of the beginning.
    vec3 first_arm_m;
    vec3 second_arm_m;
    vec3 normal;
    // √A.
    float side_m;
    float stiffness_n_m;
    float shear_stiffness_n_m;
    float strength_n;
    float shear_strength_n;
    // c along the link, and against turning.
    float damping_n_s_m;
    float turning_damping_n_m_s;
};
