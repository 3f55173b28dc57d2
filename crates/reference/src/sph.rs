//! Smoothing kernels and their wall terms, generic over f32 and f64.
//!
//! `r` is a distance and `h` the support radius, both in metres; every kernel is zero at and beyond `h`. All
//! are written in `q = r/h`, so no power of `h` above the third occurs: h⁹ underflows in f32 for millimetre
//! particles.

use core::ops::{Add, Div, Mul, Neg, Sub};

/// Scalar type of the kernels: f32 like the device, or f64 as the reference.
pub trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Returns the nearest value to `x`.
    fn from_f64(x: f64) -> Self;
    /// Returns the square root.
    fn sqrt(self) -> Self;
    /// Returns the absolute value.
    fn abs(self) -> Self;
}

impl Real for f32 {
    fn from_f64(x: f64) -> Self {
        x as f32
    }
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    fn abs(self) -> Self {
        self.abs()
    }
}

impl Real for f64 {
    fn from_f64(x: f64) -> Self {
        x
    }
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    fn abs(self) -> Self {
        self.abs()
    }
}

const PI: f64 = core::f64::consts::PI;

/// Returns a constant of the scalar type.
fn c<T: Real>(x: f64) -> T {
    T::from_f64(x)
}

/// Returns `x` where positive, else zero.
fn positive<T: Real>(x: T) -> T {
    if x > c(0.0) { x } else { c(0.0) }
}

/// poly6 in m⁻³: 315/(64πh³)·(1−q²)³. Huang2016 eq 2.31 with r² in place of its misprinted r³.
pub fn poly6<T: Real>(r: T, h: T) -> T {
    let q = r / h;
    let u = c::<T>(1.0) - q * q;
    if u <= c(0.0) {
        return c(0.0);
    }
    c::<T>(315.0 / (64.0 * PI)) / (h * h * h) * u * u * u
}

/// Derivative of [`poly6`] with respect to `r`, in m⁻⁴. Huang2016 eq 2.32.
pub fn poly6_derivative<T: Real>(r: T, h: T) -> T {
    let q = r / h;
    let u = c::<T>(1.0) - q * q;
    if u <= c(0.0) {
        return c(0.0);
    }
    -(c::<T>(945.0 / (32.0 * PI)) / (h * h * h) * q * u * u / h)
}

/// Spiky kernel in m⁻³: 15/(πh³)·(1−q)³. Chen2021 eq 4.8 and Huang2016 eq 2.35 print it garbled.
pub fn spiky<T: Real>(r: T, h: T) -> T {
    let u = c::<T>(1.0) - r / h;
    if u <= c(0.0) {
        return c(0.0);
    }
    c::<T>(15.0 / PI) / (h * h * h) * u * u * u
}

/// Derivative of [`spiky`] with respect to `r`, in m⁻⁴: −45/(πh⁴)·(1−q)².
pub fn spiky_derivative<T: Real>(r: T, h: T) -> T {
    let u = c::<T>(1.0) - r / h;
    if u <= c(0.0) {
        return c(0.0);
    }
    -(c::<T>(45.0 / PI) / (h * h * h) * u * u / h)
}

/// Gradient of [`spiky`] at `x_i` for the offset `x_i − x_j`, in m⁻⁴; zero where the two coincide.
pub fn spiky_gradient<T: Real>(offset: [T; 3], h: T) -> [T; 3] {
    let r = (offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]).sqrt();
    if r <= c(0.0) {
        return [c(0.0); 3];
    }
    let scale = spiky_derivative(r, h) / r;
    offset.map(|component| component * scale)
}

/// Viscosity kernel in m⁻³: 15/(2πh³)·(−q³/2 + q² + 1/(2q) − 1); infinite at r = 0. Huang2016 eq 2.36.
pub fn viscosity<T: Real>(r: T, h: T) -> T {
    let q = r / h;
    if q >= c(1.0) {
        return c(0.0);
    }
    c::<T>(15.0 / (2.0 * PI)) / (h * h * h)
        * (-(c::<T>(0.5) * q * q * q) + q * q + c::<T>(0.5) / q - c::<T>(1.0))
}

/// Derivative of [`viscosity`] with respect to `r`, in m⁻⁴.
pub fn viscosity_derivative<T: Real>(r: T, h: T) -> T {
    let q = r / h;
    if q >= c(1.0) {
        return c(0.0);
    }
    c::<T>(15.0 / (2.0 * PI)) / (h * h * h)
        * (-(c::<T>(1.5) * q * q) + c::<T>(2.0) * q - c::<T>(0.5) / (q * q))
        / h
}

/// Laplacian of [`viscosity`] in m⁻⁵: 45/(πh⁵)·(1−q). Huang2016 eq 2.37 prints a vector and a wrong power of
/// h.
pub fn viscosity_laplacian<T: Real>(r: T, h: T) -> T {
    let u = c::<T>(1.0) - r / h;
    if u <= c(0.0) {
        return c(0.0);
    }
    c::<T>(45.0 / PI) / (h * h * h) * u / (h * h)
}

/// Cubic spline kernel in m⁻³: 16/(πh³)·(u³ − 4v³), u = (1−q)₊, v = (½−q)₊ (Monaghan & Lattanzio 1985,
/// support h).
///
/// It is the kernel of the position-based fluid: its lattice sums at h/d = 2 are 1.0000 (cubic), 0.9997
/// (body-centred) and 0.9975 (face-centred), so rest density hardly depends on the packing of the particles.
pub fn cubic_spline<T: Real>(r: T, h: T) -> T {
    let q = r / h;
    let u = positive(c::<T>(1.0) - q);
    let v = positive(c::<T>(0.5) - q);
    c::<T>(16.0 / PI) / (h * h * h) * (u * u * u - c::<T>(4.0) * v * v * v)
}

/// Derivative of [`cubic_spline`] with respect to `r`, in m⁻⁴: −48/(πh⁴)·(u² − 4v²).
pub fn cubic_spline_derivative<T: Real>(r: T, h: T) -> T {
    let q = r / h;
    let u = positive(c::<T>(1.0) - q);
    let v = positive(c::<T>(0.5) - q);
    -(c::<T>(48.0 / PI) / (h * h * h) * (u * u - c::<T>(4.0) * v * v) / h)
}

/// Cubic B-spline of the material point method, x in cells, support |x| < 2. Breekveldt2017 eq 3.3.
pub fn cubic_bspline<T: Real>(x: T) -> T {
    let a = x.abs();
    if a < c(1.0) {
        a * a * (a * c(0.5) - c::<T>(1.0)) + c(2.0 / 3.0)
    } else if a < c(2.0) {
        let u = c::<T>(2.0) - a;
        u * u * u * c(1.0 / 6.0)
    } else {
        c(0.0)
    }
}

/// Derivative of [`cubic_bspline`], per cell. Breekveldt2017 eq 3.6 with the missing sign restored.
pub fn cubic_bspline_derivative<T: Real>(x: T) -> T {
    let a = x.abs();
    if a < c(1.0) {
        x * (a * c(3.0) - c::<T>(4.0)) * c(0.5)
    } else if a < c(2.0) {
        let u = a - c::<T>(2.0);
        let slope = -(u * u * c(0.5));
        if x < c(0.0) { -slope } else { slope }
    } else {
        c(0.0)
    }
}

/// Share of [`poly6`]'s integral that lies beyond a plane at distance `s` from the kernel's centre:
/// ½ − 315/256·(q − 4q³/3 + 6q⁵/5 − 4q⁷/7 + q⁹/9), q = s/h clamped to 0..1.
///
/// Times the rest density, it is the density that a half-space of resting fluid behind the plane would
/// contribute.
pub fn poly6_wall_fraction<T: Real>(s: T, h: T) -> T {
    let q = s / h;
    if q <= c(0.0) {
        return c(0.5);
    }
    if q >= c(1.0) {
        return c(0.0);
    }
    let q2 = q * q;
    let series = ((q2 * c(1.0 / 9.0) - c::<T>(4.0 / 7.0)) * q2 + c(6.0 / 5.0)) * q2 - c::<T>(4.0 / 3.0);
    c::<T>(0.5) - c::<T>(315.0 / 256.0) * q * (series * q2 + c(1.0))
}

/// Integral of [`poly6`] over the plane at distance `s`, in m⁻¹: 315/(256h)·(1−q²)⁴, the negative slope of
/// [`poly6_wall_fraction`].
pub fn poly6_wall_marginal<T: Real>(s: T, h: T) -> T {
    let q = s / h;
    let u = c::<T>(1.0) - q * q;
    if u <= c(0.0) {
        return c(0.0);
    }
    c::<T>(315.0 / 256.0) / h * u * u * u * u
}

/// Integral of [`spiky`] over the plane at distance `s ≥ 0`, in m⁻¹: 30/h·(u⁴/4 − u⁵/5), u = 1 − s/h.
pub fn spiky_wall_marginal<T: Real>(s: T, h: T) -> T {
    let u = c::<T>(1.0) - s / h;
    if u <= c(0.0) {
        return c(0.0);
    }
    u * u * u * u * (c::<T>(7.5) - u * c(6.0)) / h
}

/// Share of [`cubic_spline`]'s integral beyond a plane at distance `s`, clamped to 0..h:
/// 32·[u⁵(1/20 − u/30) − 4v⁵(1/40 − v/30)], u = 1 − s/h, v = (½ − s/h)₊.
pub fn cubic_spline_wall_fraction<T: Real>(s: T, h: T) -> T {
    let q = positive(s / h);
    let u = positive(c::<T>(1.0) - q);
    let v = positive(c::<T>(0.5) - q);
    let part = |x: T, a: f64| x * x * x * x * x * (c::<T>(a) - x * c(1.0 / 30.0));
    c::<T>(32.0) * (part(u, 0.05) - c::<T>(4.0) * part(v, 0.025))
}

/// Integral of [`cubic_spline`] over the plane at distance `s ≥ 0`, in m⁻¹:
/// 32/h·[u⁴(1/4 − u/5) − 4v⁴(1/8 − v/5)], the negative slope of [`cubic_spline_wall_fraction`].
pub fn cubic_spline_wall_marginal<T: Real>(s: T, h: T) -> T {
    let q = positive(s / h);
    let u = positive(c::<T>(1.0) - q);
    let v = positive(c::<T>(0.5) - q);
    let part = |x: T, a: f64| x * x * x * x * (c::<T>(a) - x * c(0.2));
    c::<T>(32.0) / h * (part(u, 0.25) - c::<T>(4.0) * part(v, 0.125))
}
