// Cubic B-spline kernel in dimensionless form: q = r/h with h the support radius, values times h³ (gradients
// times h⁴), so that sums over particles are near one at any scale of the scene.
//
// Density and its gradient use the same kernel: with Chen2021's pair, poly6 for density and spiky for its
// gradient, the corrections do not follow the gradient of the constraint, and for h ≥ 2 spacings a resting
// column boils. At h = 2 spacings the spline's sum over a cubic lattice is 1.0000.

// h³ W = SPLINE_SCALE · spline_shape(q), Σ V W = density over rest density.
const float SPLINE_SCALE = 16.0 / 3.14159265358979;
// −h⁴ dW/dr = SPLINE_SLOPE_SCALE · spline_slope_shape(q).
const float SPLINE_SLOPE_SCALE = 48.0 / 3.14159265358979;

float spline_shape(float q) {
    float u = max(1.0 - q, 0.0);
    float v = max(0.5 - q, 0.0);
    return u * u * u - 4.0 * v * v * v;
}

float spline_slope_shape(float q) {
    float u = max(1.0 - q, 0.0);
    float v = max(0.5 - q, 0.0);
    return u * u - 4.0 * v * v;
}

// Returns the share of the kernel's integral that a plane at distance q·h cuts off; a particle pressed into
// the plane counts as lying on it.
float spline_wall_fraction(float q) {
    float u = max(1.0 - max(q, 0.0), 0.0);
    float v = max(0.5 - max(q, 0.0), 0.0);
    float u2 = u * u;
    float v2 = v * v;
    return 32.0 * (u2 * u2 * u * (1.0 / 20.0 - u / 30.0) - 4.0 * v2 * v2 * v * (1.0 / 40.0 - v / 30.0));
}

// Returns minus the slope of spline_wall_fraction: the kernel's integral over the plane, times h.
float spline_wall_slope(float q) {
    float u = max(1.0 - max(q, 0.0), 0.0);
    float v = max(0.5 - max(q, 0.0), 0.0);
    float u2 = u * u;
    float v2 = v * v;
    return 32.0 * (u2 * u2 * (1.0 / 4.0 - u / 5.0) - 4.0 * v2 * v2 * (1.0 / 8.0 - v / 5.0));
}

// Returns the repulsion against clumping, in units of λ (Huang2016 eq 2.21): k (W(r)/W(Δq))ⁿ.
float artificial_pressure(float q, float strength, float inverse_shape, uint exponent) {
    float ratio = spline_shape(q) * inverse_shape;
    float artificial = strength;
    for (uint power = 0u; power < exponent; ++power) artificial *= ratio;
    return artificial;
}
