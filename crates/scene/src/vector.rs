//! Points and vectors of space.

/// A point or vector, `[x, y, z]`.
pub type Vec3 = [f64; 3];

/// Returns a · b.
pub(crate) fn dot(a: Vec3, b: Vec3) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

/// Returns a × b.
pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

/// Returns a − b.
pub(crate) fn minus(a: Vec3, b: Vec3) -> Vec3 {
    std::array::from_fn(|i| a[i] - b[i])
}

/// Returns |v|.
pub(crate) fn length(v: Vec3) -> f64 {
    dot(v, v).sqrt()
}

/// Returns the unit vector along `v`.
pub(crate) fn unit(v: Vec3) -> Vec3 {
    let norm = length(v);
    v.map(|x| x / norm)
}
