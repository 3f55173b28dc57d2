// Neighbourhood of a particle, in two vec4: the inverse B of its moment matrix, the share of its gradients
// that counts, and its viscosity.
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

// Viscosity in Pa s that acts on the part of the differences of velocities that gradients do not explain.
float unexplained_viscosity(Neighbourhood n, float unresolved_pa_s) {
    return n.share * (n.viscosity_pa_s + unresolved_pa_s);
}

// Viscosity in Pa s between a particle and the body beside it: also without a gradient.
float viscosity_at_walls(Neighbourhood n, float unresolved_pa_s) {
    return n.viscosity_pa_s + n.share * unresolved_pa_s;
}

// Twice the rate of deformation whose stress over η is that of shear and of bulk viscosity: 2 D + ζ/η tr(D)
// I.
mat3 stressing_rate(mat3 gradient, float bulk_ratio) {
    float expansion = gradient[0][0] + gradient[1][1] + gradient[2][2];
    return gradient + transpose(gradient) + mat3(bulk_ratio * expansion);
}

// Stress in Pa of the viscosity at a velocity gradient, and minus the part that a gradient explains of the
// differences of velocities, both over B: what apply_stress.comp sums over pairs.
mat3 viscous_coupling(Neighbourhood n, mat3 gradient, float bulk_ratio, float unresolved_pa_s) {
    mat3 rate = stressing_rate(gradient, bulk_ratio);
    float unexplained_pa_s = n.viscosity_pa_s + unresolved_pa_s;
    return n.share * (n.viscosity_pa_s * rate * n.inverse_moment - unexplained_pa_s * gradient);
}
