// Link between two pieces of a slab: a beam with the cross-section of their shared face (the parallel bond of
// Potyondy & Cundall 2004, Int. J. Rock Mech. Min. Sci. 41, 1329), taken as a square.
struct PieceLink {
    uint first;
    uint second;
    // Centre of the shared face relative to both centres, and its normal from the first to the second, all in
    // the axes of the initial state.
    vec3 first_arm_m;
    vec3 second_arm_m;
    vec3 normal;
    // √A.
    float side_m;
    float stiffness_n_m;
    float shear_stiffness_n_m;
    float strength_n;
    float shear_strength_n;
    // c along the link, and against rotation.
    float damping_n_s_m;
    float turning_damping_n_m_s;
};
