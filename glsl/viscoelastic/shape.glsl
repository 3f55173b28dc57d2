// Neighbourhood of a particle, in two vec4: the inverse B of its moment matrix, the share of its gradients that
// counts, and its viscosity.
struct Neighbourhood {
    mat3 inverse_moment;
    // 1 with neighbours on all sides, 0 with too few for a gradient: drops and threads of single particles.
    float share;
    float viscosity_pa_s;
};

Neighbourhood unpack_neighbourhood(vec4 a, vec4 b) {
    mat3 inverse_moment = mat3(a.x, a.w, b.x, a.w, a.y, b.y, b.x, b.y, a.z);
    return Neighbourhood(inverse_moment, b.z, b.w);
}

// Stress in Pa of the viscosity at a velocity gradient, and minus the part that a gradient explains of the
// differences of velocities, both over B: what apply_stress.comp sums over pairs.
mat3 viscous_coupling(Neighbourhood n, mat3 gradient, float unresolved_pa_s) {
    mat3 twice_rate = gradient + transpose(gradient);
    float unexplained_pa_s = n.viscosity_pa_s + unresolved_pa_s;
    return n.share * (n.viscosity_pa_s * twice_rate * n.inverse_moment - unexplained_pa_s * gradient);
}
