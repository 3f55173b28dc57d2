//! Blue-noise filling: points spread evenly over a shape, without the directions of a lattice.
//!
//! Points and shape are smoothed onto a grid by cubic B-splines, and gradient descent with momentum (Nesterov
//! 1983) moves the points so that the sum of the squared differences of the two densities is smallest: their
//! maximum mean discrepancy for that kernel (Gretton et al. 2012), as in electrostatic halftoning (Schmaltz
//! et al. 2010). The shape's share of the density keeps points from drifting to its surface or away from it.
//!
//! Only exactly rounded operations are used, in a fixed order, so that every platform gives the same bits.

use chacha20::ChaCha8Rng;

use crate::random::unit_interval;
use crate::shapes::shape::Shape;
use crate::watch::Watch;
use crate::{SceneError, Vec3};

/// Edge of a grid cell in mean distances d of points. Wider cells do not separate close points, narrower ones
/// do not see whether points are missing at surfaces: at 0.8 the second moment of a bar across five cells of
/// four points is 0.7 % low (a lattice's: 1 %), at 0.5 it is 5 % low.
const CELL_SPACINGS: f64 = 0.8;
/// Number of iterations of the descent: the residual falls by a factor of four in twenty, and little after.
const ITERATIONS: u32 = 30;
/// Step of the descent in cells per unit of the gradient, below the inverse of the largest curvature.
const STEP_CELLS: f64 = 0.5;
/// Maximum displacement per iteration, in d.
const MAX_MOVE_SPACINGS: f64 = 0.4;
/// Cells into which the bounds are divided at most, along one axis: their codes have 64 bits.
const MAX_CELLS: f64 = (1 << 20) as f64;
/// Share of the full density above which a node is so deep in the shape that no move leaves it.
const DEEP: f64 = 0.99;

/// Numbers of cells that filling a shape visits and of nodes that it holds, as floats because they may be
/// absurdly large; and the work of it, in visits of cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub n_cells: f64,
    pub n_nodes: f64,
    pub items: f64,
    /// Bytes that are held at most beside the points returned.
    pub bytes: f64,
}

/// Returns the effort of filling a shape with `n` points.
pub(crate) fn effort(shape: &Shape, n: f64) -> Effort {
    let grid = Grid::of(shape, n);
    let n_cells = grid.n_cells.iter().product::<f64>();
    let n_nodes = Density::n_nodes(&grid).iter().product::<f64>();
    let codes = shape.share_of_bounds() * n_cells;
    // A code of 8 bytes a cell of the shape, three positions a point, and two densities and a flag a node.
    let bytes = 8.0 * codes + 72.0 * n + 17.0 * n_nodes;
    let iterations = f64::from(ITERATIONS);
    Effort { n_cells, n_nodes, items: n_cells + codes + n_nodes + n * (1.0 + 2.0 * iterations), bytes }
}

/// Returns `n` points of the shape; `None` if it is too thin. The items of `watch` count [`effort`].
pub(crate) fn points(
    shape: &Shape,
    n: usize,
    rng: &mut ChaCha8Rng,
    watch: &mut Watch<'_>,
) -> Result<Option<Vec<Vec3>>, SceneError> {
    if n == 0 {
        return Ok(Some(Vec::new()));
    }
    let cells = Cells::of(shape, n, watch)?;
    if cells.codes.is_empty() {
        // Too thin for the centre of any cell.
        let mut points = Vec::with_capacity(n);
        for _ in 0..n {
            watch.tick(1)?;
            let Some(point) = shape.random_point(rng) else { return Ok(None) };
            points.push(point);
        }
        return Ok(Some(points));
    }
    let mut points = cells.stratified(shape, n, rng, watch)?;
    let target = cells.density(n, watch)?;
    relax(shape, &target, &mut points, watch)?;
    Ok(Some(points))
}

/// The division of a shape's bounds into cells.
struct Grid {
    n_axes: usize,
    spacing_m: f64,
    min_m: Vec3,
    max_m: Vec3,
    /// Whole numbers.
    n_cells: Vec3,
}

impl Grid {
    fn of(shape: &Shape, n: f64) -> Self {
        let n_axes = if shape.is_flat() { 2 } else { 3 };
        let (min_m, max_m) = shape.bounds_m();
        let share = shape.volume_m3() / n;
        let spacing_m = if n_axes == 2 { share.sqrt() } else { cube_root(share) };
        let per_spacing = if n_axes == 2 { 4.0 } else { 2.0 };
        let n_cells: Vec3 = std::array::from_fn(|i| {
            let n = ((max_m[i] - min_m[i]) * per_spacing / spacing_m).ceil();
            if i < n_axes { n.clamp(1.0, MAX_CELLS) } else { 1.0 }
        });
        Self { n_axes, spacing_m, min_m, max_m, n_cells }
    }
}

/// Cells of the bounds, a fraction of d wide, whose centres are in the shape.
struct Cells {
    n_axes: usize,
    /// Mean distance of points d in m.
    spacing_m: f64,
    min_m: Vec3,
    size_m: Vec3,
    max_m: Vec3,
    /// Morton codes in ascending order: cells that follow each other are near each other.
    codes: Vec<u64>,
}

impl Cells {
    fn of(shape: &Shape, n: usize, watch: &mut Watch<'_>) -> Result<Self, SceneError> {
        let Grid { n_axes, spacing_m, min_m, max_m, n_cells } = Grid::of(shape, n as f64);
        let size_m = std::array::from_fn(|i| (max_m[i] - min_m[i]) / n_cells[i]);
        let mut cells = Self { n_axes, spacing_m, min_m, size_m, max_m, codes: Vec::new() };
        let n_cells = n_cells.map(|n| n as u64);
        let longest = n_cells.into_iter().max().unwrap_or(1);
        let level = longest.next_power_of_two().trailing_zeros();
        cells.collect(shape, n_cells, [0; 3], level, watch)?;
        Ok(cells)
    }

    /// Collects the codes of a cube of 2^`level` cells along each edge, in ascending order.
    fn collect(
        &mut self,
        shape: &Shape,
        n_cells: [u64; 3],
        low: [u64; 3],
        level: u32,
        watch: &mut Watch<'_>,
    ) -> Result<(), SceneError> {
        if (0..3).any(|i| low[i] >= n_cells[i]) {
            return Ok(());
        }
        if level == 0 {
            watch.tick(1)?;
            if shape.contains(self.place(low, [0.5; 3]), 0.0) {
                let codes = (0..self.n_axes).map(|i| spread(low[i], self.n_axes) << i);
                self.codes.push(codes.fold(0, |code, along| code | along));
            }
            return Ok(());
        }
        let half = 1 << (level - 1);
        for octant in 0..1_u64 << self.n_axes {
            let corner = std::array::from_fn(|i| low[i] + half * (octant >> i & 1));
            self.collect(shape, n_cells, corner, level - 1, watch)?;
        }
        Ok(())
    }

    fn place(&self, cell: [u64; 3], within: Vec3) -> Vec3 {
        std::array::from_fn(|i| {
            if i < self.n_axes {
                self.min_m[i] + (cell[i] as f64 + within[i]) * self.size_m[i]
            } else {
                self.min_m[i]
            }
        })
    }

    fn cell(&self, code: u64) -> [u64; 3] {
        std::array::from_fn(|i| if i < self.n_axes { gathered(code >> i, self.n_axes) } else { 0 })
    }

    /// Draws one point from each of `n` runs of equally many cells, so that none of the shape is empty.
    fn stratified(
        &self,
        shape: &Shape,
        n: usize,
        rng: &mut ChaCha8Rng,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Vec3>, SceneError> {
        let n_cells = self.codes.len() as f64;
        let mut points = Vec::with_capacity(n);
        for k in 0..n {
            watch.tick(1)?;
            let at = (k as f64 + unit_interval(rng)) * n_cells / n as f64;
            let cell = self.cell(self.codes[(at as usize).min(self.codes.len() - 1)]);
            let within = std::array::from_fn(|_| unit_interval(rng));
            let point = self.place(cell, within);
            points.push(if shape.contains(point, 0.0) { point } else { self.place(cell, [0.5; 3]) });
        }
        Ok(points)
    }

    /// Returns the density of the shape, which adds up to `n` points.
    fn density(&self, n: usize, watch: &mut Watch<'_>) -> Result<Density, SceneError> {
        let (min_m, max_m) = (self.min_m, self.max_m);
        let grid = Grid { n_axes: self.n_axes, spacing_m: self.spacing_m, min_m, max_m, n_cells: [1.0; 3] };
        let mut density = Density::new(&grid);
        let share = n as f64 / self.codes.len() as f64;
        for &code in &self.codes {
            watch.tick(1)?;
            let stencil = density.stencil(self.place(self.cell(code), [0.5; 3]));
            density.add(&stencil, share);
        }
        Ok(density)
    }
}

/// Moves bits apart by `n_axes`, 20 for three axes and 21 for two.
fn spread(index: u64, n_axes: usize) -> u64 {
    (0..21).fold(0, |code, bit| code | (index >> bit & 1) << (n_axes * bit))
}

/// Reverses [`spread`].
fn gathered(code: u64, n_axes: usize) -> u64 {
    (0..21).fold(0, |index, bit| index | (code >> (n_axes * bit) & 1) << bit)
}

/// Returns the cube root to rounding, by Newton's method: that of the standard library differs between
/// platforms.
fn cube_root(x: f64) -> f64 {
    let mut exponent = 1.0_f64;
    while exponent * exponent * exponent < x {
        exponent *= 2.0;
    }
    while exponent * exponent * exponent > x {
        exponent *= 0.5;
    }
    // Starting within a factor of two, each iteration doubles the number of exact digits.
    (0..8).fold(exponent, |root, _| root - (root * root * root - x) / (3.0 * root * root))
}

/// Weights of a point on the nodes around it, by axis, and their slopes in 1/cells.
struct Stencil {
    base: usize,
    weights: [[f64; 4]; 3],
    slopes: [[f64; 4]; 3],
}

/// Number of points at the nodes of a grid.
struct Density {
    n_axes: usize,
    spacing_m: f64,
    origin_m: Vec3,
    strides: [usize; 3],
    at_nodes: Vec<f64>,
}

impl Density {
    /// Returns the number of nodes along each axis.
    fn n_nodes(grid: &Grid) -> Vec3 {
        let cell_m = CELL_SPACINGS * grid.spacing_m;
        std::array::from_fn(|i| {
            if i < grid.n_axes { ((grid.max_m[i] - grid.min_m[i]) / cell_m).floor() + 7.0 } else { 1.0 }
        })
    }

    fn new(grid: &Grid) -> Self {
        let n = Self::n_nodes(grid).map(|n| n as usize);
        let &Grid { n_axes, spacing_m, min_m, .. } = grid;
        let cell_m = CELL_SPACINGS * spacing_m;
        let origin_m = std::array::from_fn(|i| min_m[i] - 2.5 * cell_m);
        let strides = [1, n[0], n[0] * n[1]];
        Self { n_axes, spacing_m, origin_m, strides, at_nodes: vec![0.0; n[0] * n[1] * n[2]] }
    }

    /// Returns the number of nodes along the third axis that a point reaches.
    fn depth(&self) -> usize {
        if self.n_axes == 3 { 4 } else { 1 }
    }

    fn cell_m(&self) -> f64 {
        CELL_SPACINGS * self.spacing_m
    }

    fn stencil(&self, point_m: Vec3) -> Stencil {
        let mut stencil = Stencil { base: 0, weights: [[1.0, 0.0, 0.0, 0.0]; 3], slopes: [[0.0; 4]; 3] };
        for (i, x_m) in point_m.iter().enumerate().take(self.n_axes) {
            let x = (x_m - self.origin_m[i]) / self.cell_m();
            let f = x - x.floor();
            let g = 1.0 - f;
            stencil.base += (x.floor() as usize - 1) * self.strides[i];
            stencil.weights[i] = [
                g * g * g / 6.0,
                (4.0 + f * f * (3.0 * f - 6.0)) / 6.0,
                (4.0 + g * g * (3.0 * g - 6.0)) / 6.0,
                f * f * f / 6.0,
            ];
            stencil.slopes[i] = [-0.5 * g * g, f * (1.5 * f - 2.0), -(g * (1.5 * g - 2.0)), 0.5 * f * f];
        }
        stencil
    }

    /// Calls `visit` with the nodes of a stencil, as index along each axis, and index among all nodes.
    fn visit(&self, base: usize, mut visit: impl FnMut([usize; 3], usize)) {
        for k in 0..self.depth() {
            for j in 0..4 {
                let row = base + j * self.strides[1] + k * self.strides[2];
                for i in 0..4 {
                    visit([i, j, k], row + i);
                }
            }
        }
    }

    fn add(&mut self, stencil: &Stencil, share: f64) {
        let [wx, wy, wz] = &stencil.weights;
        for (k, wz) in wz.iter().enumerate().take(self.depth()) {
            for (j, wy) in wy.iter().enumerate() {
                let row = stencil.base + j * self.strides[1] + k * self.strides[2];
                let factor = share * wy * wz;
                for (node, w) in self.at_nodes[row..row + 4].iter_mut().zip(wx) {
                    *node += factor * w;
                }
            }
        }
    }

    /// Returns the gradient, in 1/cells, of half the sum of squares at a point, without the point's own
    /// contribution, which depends on its place among the nodes only.
    fn slope(&self, stencil: &Stencil) -> Vec3 {
        let ([wx, wy, wz], [sx, sy, sz]) = (&stencil.weights, &stencil.slopes);
        let mut slope = [0.0; 3];
        self.visit(stencil.base, |[i, j, k], node| {
            let other = self.at_nodes[node] - wx[i] * wy[j] * wz[k];
            slope[0] += sx[i] * wy[j] * wz[k] * other;
            slope[1] += wx[i] * sy[j] * wz[k] * other;
            slope[2] += wx[i] * wy[j] * sz[k] * other;
        });
        slope
    }

    /// Returns true if all nodes of the stencil at `base` are deep in the shape whose density this is.
    fn is_deep(&self, base: usize) -> bool {
        let full = DEEP * CELL_SPACINGS.powi(self.n_axes as i32);
        let mut is_deep = true;
        self.visit(base, |_, node| is_deep &= self.at_nodes.get(node).is_some_and(|density| *density > full));
        is_deep
    }
}

/// Moves points so that their density becomes that of the shape.
fn relax(
    shape: &Shape,
    target: &Density,
    points: &mut [Vec3],
    watch: &mut Watch<'_>,
) -> Result<(), SceneError> {
    let (cell_m, n_axes) = (target.cell_m(), target.n_axes);
    let max_move_m = MAX_MOVE_SPACINGS * target.spacing_m;
    let mut is_deep = Vec::with_capacity(target.at_nodes.len());
    for base in 0..target.at_nodes.len() {
        watch.tick(1)?;
        is_deep.push(target.is_deep(base));
    }
    // Position after the last step of the descent, without momentum.
    let mut descended = points.to_vec();
    let mut difference = Density { at_nodes: Vec::new(), ..*target };
    for iteration in 0..ITERATIONS {
        difference.at_nodes.clear();
        difference.at_nodes.extend(target.at_nodes.iter().map(|density| -density));
        for point in &*points {
            watch.tick(1)?;
            let stencil = difference.stencil(*point);
            difference.add(&stencil, 1.0);
        }
        let momentum = f64::from(iteration) / f64::from(iteration + 3);
        for (point, descended) in points.iter_mut().zip(&mut descended) {
            watch.tick(1)?;
            let stencil = target.stencil(*point);
            let slope = difference.slope(&stencil);
            let moved = |from: f64, by: f64| from + by.clamp(-max_move_m, max_move_m);
            let step: Vec3 = std::array::from_fn(|i| {
                if i < n_axes { moved(point[i], -STEP_CELLS * cell_m * slope[i]) } else { point[i] }
            });
            let leap: Vec3 = std::array::from_fn(|i| {
                moved(point[i], step[i] - point[i] + momentum * (step[i] - descended[i]))
            });
            if is_deep[stencil.base] || shape.contains(leap, 0.0) {
                (*point, *descended) = (leap, step);
            } else if shape.contains(step, 0.0) {
                (*point, *descended) = (step, step);
            } else {
                *descended = *point;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;
    use chacha20::rand_core::SeedableRng;

    fn filled(shape: &Shape, n: usize) -> Vec<Vec3> {
        points(shape, n, &mut ChaCha8Rng::seed_from_u64(1), &mut Watch::unobserved()).unwrap().unwrap()
    }

    /// Returns the smallest and the mean distance to the nearest point, in d.
    fn distances(points: &[Vec3], spacing_m: f64) -> (f64, f64) {
        let nearest = |at: usize| {
            let others = points.iter().enumerate().filter(|(other, _)| *other != at);
            let square = |x: &Vec3| (0..3).map(|i| (x[i] - points[at][i]) * (x[i] - points[at][i])).sum();
            others.map(|(_, x)| square(x)).fold(f64::INFINITY, f64::min).sqrt() / spacing_m
        };
        let all: Vec<f64> = (0..points.len()).map(nearest).collect();
        (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().sum::<f64>() / all.len() as f64)
    }

    #[test]
    fn points_keep_a_distance_and_the_shapes_moments() {
        let disk = Shape::Circle { centre_m: [0.3, -0.2], radius_m: 0.2 };
        let ball = Shape::Sphere { centre_m: [0.3, -0.2, 1.0], radius_m: 0.2 };
        let plank = Shape::Box { min_m: [0.0; 3], max_m: [1.0, 0.2, 0.1] };
        let bar = Shape::Rectangle { min_m: [0.0; 2], max_m: [0.5, 0.1] };
        // With the second moment per mass about the middle of y: r²/4, r²/5, t²/12.
        for (shape, n, second) in [
            (&disk, 1000, 0.2 * 0.2 / 4.0),
            (&ball, 1500, 0.2 * 0.2 / 5.0),
            (&plank, 1250, 0.2 * 0.2 / 12.0),
            (&bar, 500, 0.1 * 0.1 / 12.0),
        ] {
            let points = filled(shape, n);
            assert_eq!(points.len(), n);
            assert!(points.iter().all(|point| shape.contains(*point, 0.0)));
            let n_axes = if shape.is_flat() { 2 } else { 3 };
            let spacing_m = (shape.volume_m3() / n as f64).powf(1.0 / f64::from(n_axes));
            let (least, mean) = distances(&points, spacing_m);
            let (min, max) = shape.bounds_m();
            let middle = 0.5 * (min[1] + max[1]);
            let [offset, found] = [1, 2]
                .map(|power| points.iter().map(|x| (x[1] - middle).powi(power)).sum::<f64>() / n as f64);
            println!(
                "{}: nearest {least:.2} d, mean {mean:.2} d, middle {:+.4} d, second moment {:+.2} %",
                shape.name(),
                offset / spacing_m,
                100.0 * (found / second - 1.0)
            );
            // Random points come within a tenth, with a mean of 0.50 (0.55 in space).
            assert!(least > 0.35 && mean > 0.85, "{least} {mean}");
            // A lattice of n points across a bar is off by 1/n².
            assert!(offset.abs() < 0.05 * spacing_m && (found / second - 1.0).abs() < 0.02);
        }
    }

    #[test]
    fn few_points_and_thin_shapes_are_filled() {
        let sliver = Shape::Rectangle { min_m: [0.0; 2], max_m: [1.0, 1e-6] };
        let grain = Shape::Sphere { centre_m: [0.0; 3], radius_m: 1e-3 };
        for shape in [&sliver, &grain] {
            for n in [0, 1, 2, 3, 7, 64, 65] {
                let points = filled(shape, n);
                assert!(points.len() == n && points.iter().all(|point| shape.contains(*point, 0.0)));
            }
        }
    }

    #[test]
    fn codes_of_cells_are_unique() {
        for n_axes in [2, 3] {
            for index in [0, 1, 2, 3, 1000, (1 << 20) - 1] {
                assert_eq!(gathered(spread(index, n_axes), n_axes), index);
            }
        }
        for x in [1e-12, 0.001, 0.5, 1.0, 8.0, 1e9] {
            assert!((cube_root(x) / x.cbrt() - 1.0).abs() < 1e-15);
        }
    }
}
