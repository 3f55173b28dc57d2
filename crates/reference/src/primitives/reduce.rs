//! Reduction by a fixed tree.

/// Shape of the reduction tree: the work of one workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceShape {
    /// Threads in a workgroup, a power of two.
    pub workgroup_size: usize,
    /// Number of elements that a thread reduces before the shared-memory tree, at least 1.
    pub items_per_thread: usize,
}

impl ReduceShape {
    /// Returns the number of elements in a tile.
    pub fn tile(self) -> usize {
        self.workgroup_size * self.items_per_thread
    }
}

impl Default for ReduceShape {
    fn default() -> Self {
        Self { workgroup_size: 256, items_per_thread: 8 }
    }
}

/// Reduces `input` by `combine` in the device's order; returns `identity` for an empty input.
///
/// Each workgroup reduces one tile: thread t folds elements t, t+W, t+2W … of the tile in that order,
/// starting from `identity`; then partials at distance W/2, W/4 … 1 are combined, lower index on the left.
/// The tiles' results are reduced the same way until one is left. `combine` must be associative up to
/// rounding, and `identity` its neutral element.
///
/// # Panics
/// Panics if the workgroup size is not a power of two or a tile holds fewer than two elements: the tree would
/// not end.
pub fn reduce<T: Copy>(input: &[T], identity: T, shape: ReduceShape, combine: impl Fn(T, T) -> T) -> T {
    assert!(
        shape.workgroup_size.is_power_of_two(),
        "workgroup size {} is no power of two",
        shape.workgroup_size
    );
    assert!(shape.tile() > 1, "a tile of {} elements never reduces anything", shape.tile());
    let mut level: Vec<T> = input.to_vec();
    loop {
        level = level.chunks(shape.tile()).map(|tile| reduce_tile(tile, identity, shape, &combine)).collect();
        match level[..] {
            [] => return identity,
            [total] => return total,
            _ => {}
        }
    }
}

fn reduce_tile<T: Copy>(tile: &[T], identity: T, shape: ReduceShape, combine: impl Fn(T, T) -> T) -> T {
    let mut shared: Vec<T> = (0..shape.workgroup_size)
        .map(|thread| {
            tile.iter().skip(thread).step_by(shape.workgroup_size).fold(identity, |a, &b| combine(a, b))
        })
        .collect();
    let mut stride = shape.workgroup_size / 2;
    while stride > 0 {
        for thread in 0..stride {
            shared[thread] = combine(shared[thread], shared[thread + stride]);
        }
        stride /= 2;
    }
    shared[0]
}

/// Returns the sum modulo 2³².
pub fn reduce_sum_u32(input: &[u32]) -> u32 {
    reduce(input, 0, ReduceShape::default(), u32::wrapping_add)
}

/// Returns the minimum; `u32::MAX` for an empty input.
pub fn reduce_min_u32(input: &[u32]) -> u32 {
    reduce(input, u32::MAX, ReduceShape::default(), u32::min)
}

/// Returns the maximum; 0 for an empty input.
pub fn reduce_max_u32(input: &[u32]) -> u32 {
    reduce(input, 0, ReduceShape::default(), u32::max)
}

/// Returns the sum in the order of [`reduce`], equal to the device's bit for bit. The error is bounded by
/// (items_per_thread + log₂ workgroup_size) · levels · 2⁻²⁴ · Σ|x|.
pub fn reduce_sum_f32(input: &[f32], shape: ReduceShape) -> f32 {
    reduce(input, 0.0, shape, |a, b| a + b)
}
