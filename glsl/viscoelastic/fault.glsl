// Record of the first fault: place and step are INVALID_INDEX while there is none.
struct ViscoelasticFault {
    uint step;
    uint id;
    vec3 position_m;
    vec3 velocity_m_s;
};
