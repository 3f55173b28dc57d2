// Heat conduction between particles of both phases (Chen2021 eq 6.1), for conduct.comp and
// conduct_enthalpy.comp:
//   Σ_j V k_ij (T_j − T_i) ∇²W(x_ij),  k_ij = 2 k_i k_j / (k_i + k_j),  ∇²W = 45/(πh⁶) (h − r)
// The paper prints 4 k_i k_j / (k_i + k_j), which belongs to another form of the Laplacian: with this one,
// heat would flow twice as fast as by Fourier's law. Every term has the opposite sign at the other end, so
// heat is conserved.
//

struct Conduction {
    Grid grid;
    float inverse_h;
};

// Returns (T_j − T_i)(1 − q), 0 from the support radius on.
float warmth_from(Conduction c, vec3 x, float t, vec3 other_x, float other_t) {
    precise vec3 offset = (x - other_x) * c.inverse_h;
    precise float q2 = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
    return q2 < 1.0 ? (other_t - t) * (1.0 - sqrt(q2)) : 0.0;
}
