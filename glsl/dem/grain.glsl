// Grain as read by contacts, in the order of cells: packed when grains are sorted, so that a neighbour is
// read with few loads. Its position is stored separately, as a vec4 of centre and radius, since the search
// for contacts reads nothing else of a neighbour.
#ifndef DEM_GRAIN
#define DEM_GRAIN

struct GrainMotion {
    vec3 velocity_m_s;
    uint id;
    vec3 spin_1_s;
    // Rows of its contacts in the previous step: from the first up to the second.
    uint old_row;
    uint old_end;
};

// Sum of the contact forces on a grain, passed from pass to pass.
struct ContactLoad {
    vec3 force_n;
    // Number of processed entries of the grain's contact list, and the row of the next contact.
    uint n_done;
    vec3 torque_n_m;
    uint next_row;
};

#endif
