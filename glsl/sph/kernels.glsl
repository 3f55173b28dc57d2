// SPH kernels in dimensionless form: q = r/h, values times h³ (gradients times h⁴), so that sums over particles stay
// near one whatever the scale of the scene.

const float POLY6_SCALE = 315.0 / (64.0 * 3.14159265358979);
const float SPIKY_SCALE = 45.0 / 3.14159265358979;

// h³ W_poly6 / POLY6_SCALE at q² < 1; 000 eq 4.7.
float poly6_shape(float q2) {
    float u = 1.0 - q2;
    return u * u * u;
}

// −h⁴ |∇W_spiky| / SPIKY_SCALE at q < 1; 000 eq 4.8, corrected: (1 − q)².
float spiky_slope_shape(float q) {
    float t = 1.0 - q;
    return t * t;
}

// The share of poly6's integral that a plane at distance q·h cuts off, for q in 0 … 1; the closed form of
// ∫_q^1 (315/256)(1 − z²)⁴ dz. A particle pressed into the plane counts as lying on it.
float poly6_wall_fraction(float q) {
    q = clamp(q, 0.0, 1.0);
    float q2 = q * q;
    return 0.5 - 315.0 / 256.0 * q * (1.0 + q2 * (-4.0 / 3.0 + q2 * (6.0 / 5.0 + q2 * (-4.0 / 7.0 + q2 / 9.0))));
}

// h times the spiky kernel's integral over the plane at distance q·h: the wall fraction's slope, for q in 0 … 1.
float spiky_wall_marginal(float q) {
    float t = 1.0 - clamp(q, 0.0, 1.0);
    float t4 = t * t * t * t;
    return 30.0 * t4 * (0.25 - t / 5.0);
}
