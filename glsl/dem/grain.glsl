// A grain as contacts read it, in the order of cells: packed when grains are sorted, so that a neighbour is
// read with few loads. Where it is lies apart, as a vec4 of centre and radius, since the search for contacts
// reads nothing else of a neighbour.
#ifndef DEM_GRAIN
#define DEM_GRAIN

struct GrainMotion {
    vec3 velocity_m_s;
    uint id;
    vec3 spin_1_s;
    // Rows of the contacts it had in the step before: from the first up to the second.
    uint old_row;
    uint old_end;
};

// What the contacts of a grain add up to, from pass to pass.
struct ContactLoad {
    vec3 force_n;
    // Of what is near the grain, how much is dealt with, and the row that the next contact goes to.
    uint n_done;
    vec3 torque_n_m;
    uint next_row;
};

#endif
