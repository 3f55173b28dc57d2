// Grain as read by contacts, in the order of cells: packed when grains are sorted, so that a neighbour is
// read with few loads, and updated in place by each step. Its position is stored separately, as a vec4 of
// centre and radius, since the test of a listed neighbour reads nothing else of it.
#ifndef DEM_GRAIN
#define DEM_GRAIN

struct GrainMotion {
    vec3 velocity_m_s;
    uint id;
    vec3 spin_1_s;
    // Part of the position in m below its ulp: grains move by Δt v wherever they are, and overlaps of a few
    // ulps of positions, such as those under a grain's own weight, are not rounded.
    vec3 residual_m;
};

// Returns how far the centre and the surface of a grain of radius r move, whichever is faster, in radii per
// s.
float travel_1_s(GrainMotion motion, float r) {
    vec3 v = motion.velocity_m_s;
    vec3 w = motion.spin_1_s;
    return max(sqrt(dot(v, v)) / r, sqrt(dot(w, w)));
}

// Sum of the contact forces on a grain, passed from pass to pass.
struct ContactLoad {
    vec3 force_n;
    // Row of the next contact to process.
    uint next_row;
    vec3 torque_n_m;
};

#endif
