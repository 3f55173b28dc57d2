// Cubic B-spline kernel in dimensionless form: q = r/h with h the support radius, values times h³ (gradients
// times h⁴), so that sums over particles are near one at any scale of the scene.
//
// Density and its gradient use the same kernel: with Chen2021's pair, poly6 for density and spiky for its
// gradient, the corrections do not follow the gradient of the constraint, and for h ≥ 2 spacings a resting
// column boils. At h = 2 spacings the spline's sum over a cubic lattice is 1.0000.
//
// A kernel that defines SMOOTHING_KERNEL as a specialization constant, and HAS_SMOOTHING_KERNELS, before it
// includes this file has the choice between the two (`fluid.kernel`): `kernel_shape` is the kernel of
// density, XSPH and artificial pressure, `kernel_slope_shape` that of the gradient of the density constraint.
#ifndef SPH_KERNELS
#define SPH_KERNELS

const uint KERNEL_CUBIC_SPLINE = 0u;
const uint KERNEL_POLY6_SPIKY = 1u;

#ifdef HAS_SMOOTHING_KERNELS
bool is_poly6_spiky() { return SMOOTHING_KERNEL == KERNEL_POLY6_SPIKY; }
#else
bool is_poly6_spiky() { return false; }
#endif

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

// h³ W of poly6 = POLY6_SCALE · (1 − q²)³ (Huang2016 eq 2.31, which prints r³ for r²).
const float POLY6_SCALE = 315.0 / (64.0 * 3.14159265358979);
// −h⁴ dW/dr of spiky = SPIKY_SLOPE_SCALE · (1 − q)² (Huang2016 eq 2.35, which has −r for the unit vector).
const float SPIKY_SLOPE_SCALE = 45.0 / 3.14159265358979;

float poly6_shape(float q) {
    float u = max(1.0 - q * q, 0.0);
    return u * u * u;
}

float spiky_slope_shape(float q) {
    float u = max(1.0 - q, 0.0);
    return u * u;
}

// Returns the share of poly6's integral that a plane at distance q·h cuts off.
float poly6_wall_fraction(float q) {
    float s = min(max(q, 0.0), 1.0);
    float s2 = s * s;
    float series = ((s2 / 9.0 - 4.0 / 7.0) * s2 + 6.0 / 5.0) * s2 - 4.0 / 3.0;
    return 0.5 - 315.0 / 256.0 * s * (series * s2 + 1.0);
}

// Returns spiky's integral over a plane at distance q·h, times h.
float spiky_wall_slope(float q) {
    float u = max(1.0 - max(q, 0.0), 0.0);
    float u2 = u * u;
    return u2 * u2 * (7.5 - 6.0 * u);
}

float kernel_scale() { return is_poly6_spiky() ? POLY6_SCALE : SPLINE_SCALE; }

float kernel_slope_scale() { return is_poly6_spiky() ? SPIKY_SLOPE_SCALE : SPLINE_SLOPE_SCALE; }

float kernel_shape(float q) { return is_poly6_spiky() ? poly6_shape(q) : spline_shape(q); }

float kernel_slope_shape(float q) { return is_poly6_spiky() ? spiky_slope_shape(q) : spline_slope_shape(q); }

float kernel_wall_fraction(float q) {
    return is_poly6_spiky() ? poly6_wall_fraction(q) : spline_wall_fraction(q);
}

float kernel_wall_slope(float q) { return is_poly6_spiky() ? spiky_wall_slope(q) : spline_wall_slope(q); }

// Returns the repulsion against clumping, in units of λ (Huang2016 eq 2.21): k (W(r)/W(Δq))ⁿ.
float artificial_pressure(float q, float strength, float inverse_shape, uint exponent) {
    float ratio = kernel_shape(q) * inverse_shape;
    float artificial = strength;
    for (uint power = 0u; power < exponent; ++power) artificial *= ratio;
    return artificial;
}

#endif
