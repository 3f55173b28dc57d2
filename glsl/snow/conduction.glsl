// Heat conduction between particles of both phases (000 eq 6.1), as a sum that conduct.comp and conduct_enthalpy.comp share:
//   Σ_j V k_ij (T_j − T_i) ∇²W(x_ij),  k_ij = 2 k_i k_j / (k_i + k_j),  ∇²W = 45/(πh⁶) (h − r)
// The paper prints 4 k_i k_j / (k_i + k_j), which belongs to another form of the Laplacian: with this one, heat would run twice as
// fast as Fourier's law has it. Every term is the same number with the other sign at the other end, so that heat is kept.
//
// Needs buffers key, cell_start, predicted, temperature of the own phase and other_* of the other.

struct Conduction {
    Grid grid;
    float inverse_h;
    // k between two particles of the own phase, and between one of either.
    float own_w_m_k;
    float cross_w_m_k;
};

float warmth_from(Conduction c, vec3 x, float t, vec3 other_x, float other_t) {
    precise vec3 offset = (x - other_x) * c.inverse_h;
    precise float q2 = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
    return q2 < 1.0 ? (other_t - t) * (1.0 - sqrt(q2)) : 0.0;
}

#define CONDUCTED(sum, c, i)                                                                  \
    float sum = 0.0;                                                                          \
    {                                                                                         \
        vec3 x_ = predicted[i];                                                               \
        float t_ = temperature[i];                                                            \
        uvec3 home_ = home_of(c.grid, key[i]);                                                \
        float own_ = 0.0;                                                                     \
        FOR_EACH_CANDIDATE_IN(cell_start, c.grid, home_, j) own_ += warmth_from(c, x_, t_, predicted[j], temperature[j]); \
        float cross_ = 0.0;                                                                   \
        FOR_EACH_CANDIDATE_IN(other_cell_start, c.grid, home_, j)                             \
            cross_ += warmth_from(c, x_, t_, other_predicted[j], other_temperature[j]);       \
        sum = c.own_w_m_k * own_ + c.cross_w_m_k * cross_;                                    \
    }
