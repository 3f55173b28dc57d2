//! Boundary particles (`Akinci2012`, the paper's ref. [16]): a layer of fixed particles behind every wall and
//! inside every body's surface, which represent the solid in the density of water.
//!
//! The weight of each is V_b = γ / Σ_k W(x_bk) over the other boundary particles, which corrects for uneven
//! sampling. γ is such that a plane layer half a spacing behind a wall represents the whole lattice beyond
//! it, as the closed form of a wall does.

use super::constraints::Boundary;
use crate::SolverError;
use crate::pbd::parameters::{Parameters, spline_shape};
use frazil_kernels::{CellSort, Counts, UniformGrid};
use frazil_scene::{Body, BodyShape, Scene, Side};
use frazil_vk::Device;
use std::collections::HashMap;

type Point = [f64; 3];

/// Samples the scene's walls and bodies, and sorts the particles by cell. Set-up only: waits for the
/// device.
pub(super) fn sample(
    device: &Device,
    scene: &Scene,
    parameters: &Parameters,
) -> Result<Boundary, SolverError> {
    let d = scene.particle_spacing_m();
    let (lower, upper) = (scene.domain.min_m, scene.domain.max_m);
    let mut points = box_surface(lower.map(|x| x - 0.5 * d), upper.map(|x| x + 0.5 * d), d);
    for body in &scene.bodies {
        let surface = body_surface(body, lower, upper, d);
        // Points inside the walls are already covered by the layer of the wall.
        points.extend(surface.into_iter().filter(|p| (0..3).all(|i| lower[i] <= p[i] && p[i] <= upper[i])));
    }
    let weights = weights(&points, d, scene.support_radius_m());

    let n = points.len() as u32;
    let positions: Vec<[f32; 3]> = points.iter().map(|point| point.map(|x| x as f32)).collect();
    let walls = &parameters.walls;
    let grid = UniformGrid::new(device, walls.domain_min_m, walls.domain_max_m, parameters.support_m)?;
    let count = Counts::new(device)?.upload(device, "boundary particles", n, n)?;
    let position = device.buffer_from("boundary position", &positions)?;
    let (key, order) =
        (device.buffer("boundary key", n as usize)?, device.buffer("boundary order", n as usize)?);
    let mut recorder = device.recorder()?;
    grid.record_keys(&mut recorder, &count, &position, &key);
    CellSort::new(device, n, &grid)?.record(&mut recorder, &count, &grid, &key, &order)?;
    device.submit(recorder)?.wait()?;
    let order = device.download(&order, n as usize)?;
    let sorted: Vec<[f32; 4]> = order
        .into_iter()
        .map(|from| {
            let [x, y, z] = positions[from as usize];
            [x, y, z, weights[from as usize] as f32]
        })
        .collect();
    Ok(Boundary {
        particles: device.buffer_from("boundary", &sorted)?,
        cell_start: grid.cell_start().clone(),
    })
}

/// Returns the points of a lattice on the surface of a box, corners included; its spacing is as near to `d`
/// as fits.
fn box_surface(lower: Point, upper: Point, d: f64) -> Vec<Point> {
    let steps: [u32; 3] = std::array::from_fn(|i| ((upper[i] - lower[i]) / d).round().max(1.0) as u32);
    let at = |axis: usize, step: u32| {
        lower[axis] + (upper[axis] - lower[axis]) * f64::from(step) / f64::from(steps[axis])
    };
    let mut points = Vec::new();
    for z in 0..=steps[2] {
        for y in 0..=steps[1] {
            let is_face = y == 0 || y == steps[1] || z == 0 || z == steps[2];
            let stride = if is_face { 1 } else { steps[0] };
            for x in (0..=steps[0]).step_by(stride as usize) {
                points.push([at(0, x), at(1, y), at(2, z)]);
            }
        }
    }
    points
}

/// Returns a layer half a spacing below a body's surface.
fn body_surface(body: &Body, lower: Point, upper: Point, d: f64) -> Vec<Point> {
    match body.shape {
        BodyShape::Plane { point_m, normal } => {
            let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
            let normal = normal.map(|n| n / length);
            let [u, v] = tangents(normal);
            // Large enough to cross the domain from the point of the plane next to its middle.
            let middle: Point = std::array::from_fn(|i| 0.5 * (lower[i] + upper[i]));
            let away: f64 = (0..3).map(|i| (middle[i] - point_m[i]) * normal[i]).sum::<f64>() + 0.5 * d;
            let origin: Point = std::array::from_fn(|i| middle[i] - away * normal[i]);
            let reach = (0..3).map(|i| (upper[i] - lower[i]).powi(2)).sum::<f64>().sqrt();
            let steps = (0.5 * reach / d).ceil() as i32;
            let mut points = Vec::new();
            for a in -steps..=steps {
                for b in -steps..=steps {
                    let (a, b) = (f64::from(a) * d, f64::from(b) * d);
                    points.push(std::array::from_fn(|i| origin[i] + a * u[i] + b * v[i]));
                }
            }
            points
        }
        BodyShape::Sphere { centre_m, radius_m } => {
            let radius = match body.side {
                Side::Outside => (radius_m - 0.5 * d).max(0.0),
                Side::Inside => radius_m + 0.5 * d,
            };
            // A Fibonacci lattice: even, for any number of points.
            let n = (4.0 * std::f64::consts::PI * radius * radius / (d * d)).ceil().max(1.0) as u32;
            let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
            let point = |i: u32| {
                let height = 1.0 - 2.0 * (f64::from(i) + 0.5) / f64::from(n);
                let ring = (1.0 - height * height).sqrt();
                let (sin, cos) = (golden * f64::from(i)).sin_cos();
                let unit = [ring * cos, height, ring * sin];
                std::array::from_fn(|axis| centre_m[axis] + radius * unit[axis])
            };
            (0..n).map(point).collect()
        }
        // Validation refuses other shapes.
        _ => Vec::new(),
    }
}

/// Returns two unit vectors perpendicular to `normal` and to one another.
fn tangents(normal: Point) -> [Point; 2] {
    let cross = |a: Point, b: Point| -> Point {
        std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
    };
    let smallest = (0..3).min_by(|&a, &b| normal[a].abs().total_cmp(&normal[b].abs())).unwrap_or(0);
    let mut axis = [0.0; 3];
    axis[smallest] = 1.0;
    let u = cross(normal, axis);
    let length = u.iter().map(|x| x * x).sum::<f64>().sqrt();
    let u = u.map(|x| x / length);
    [u, cross(normal, u)]
}

/// Returns the weight of each boundary particle, in particles.
fn weights(points: &[Point], d: f64, h: f64) -> Vec<f64> {
    let cell = |point: &Point| point.map(|x| (x / h).floor() as i64);
    let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    for (idx, point) in points.iter().enumerate() {
        cells.entry(cell(point)).or_default().push(idx as u32);
    }
    let plane = plane_weight(d / h);
    let sum_about = |point: &Point| {
        let [x, y, z] = cell(point);
        let mut sum = 0.0;
        for (dx, dy, dz) in (0..27).map(|i| (i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1)) {
            for &other in cells.get(&[x + dx, y + dy, z + dz]).into_iter().flatten() {
                let other = points[other as usize];
                let r2: f64 = (0..3).map(|i| (point[i] - other[i]).powi(2)).sum();
                sum += spline_shape(r2.sqrt() / h);
            }
        }
        sum
    };
    points.iter().map(|point| plane / sum_about(point)).collect()
}

/// Returns γ in the units of [`weights`]: the sum over a plane lattice, times the weight of a layer one
/// spacing away that represents all layers from there on. `spacing` is in supports.
fn plane_weight(spacing: f64) -> f64 {
    let layer = |depth: i32| -> f64 {
        let reach = (1.0 / spacing).floor() as i32;
        let mut sum = 0.0;
        for x in -reach..=reach {
            for y in -reach..=reach {
                sum += spline_shape(spacing * f64::from(x * x + y * y + depth * depth).sqrt());
            }
        }
        sum
    };
    let beyond: f64 = (1..=(1.0 / spacing).ceil() as i32).map(layer).sum();
    let nearest = layer(1);
    if nearest > 0.0 { layer(0) * beyond / nearest } else { layer(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_of_a_box_has_every_point_once() {
        let points = box_surface([0.0; 3], [3.0, 2.0, 4.0], 1.0);
        assert_eq!(points.len(), 4 * 3 * 5 - 2 * 3);
        let mut sorted = points.clone();
        sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
        sorted.dedup();
        assert_eq!(sorted.len(), points.len());
    }

    #[test]
    fn a_boundary_layer_has_the_density_of_the_half_space_behind_a_wall() {
        for support in [1.684, 2.0, 3.0] {
            let spacing = 1.0 / support;
            let side = 8;
            let plane: Vec<Point> =
                (0..17 * 17).map(|i| [f64::from(i % 17 - side), -1.0, f64::from(i / 17 - side)]).collect();
            let weights = weights(&plane, 1.0, support);
            let at_wall: f64 = plane
                .iter()
                .zip(&weights)
                .map(|(p, w)| w * spline_shape(spacing * p.iter().map(|x| x * x).sum::<f64>().sqrt()))
                .sum();
            let lattice = |below: bool| -> f64 {
                let range = -4..=4;
                let points =
                    range.clone().flat_map(|x| (-4..=4).flat_map(move |y| (-4..=4).map(move |z| (x, y, z))));
                points
                    .filter(|(_, y, _)| !below || *y < 0)
                    .map(|(x, y, z)| spline_shape(spacing * f64::from(x * x + y * y + z * z).sqrt()))
                    .sum()
            };
            let cut_off = lattice(true);
            assert!((at_wall - cut_off).abs() < 1e-9 * lattice(false), "{support}: {at_wall} for {cut_off}");
        }
    }

    #[test]
    fn a_sphere_is_sampled_evenly_and_half_a_spacing_inside() {
        let body = Body {
            name: None,
            shape: BodyShape::Sphere { centre_m: [1.0, 2.0, 3.0], radius_m: 2.0 },
            side: Side::Outside,
            motion: None,
            friction: None,
            restitution: None,
            sticky: false,
        };
        let points = body_surface(&body, [-9.0; 3], [9.0; 3], 0.2);
        assert!(points.iter().all(|p| {
            let r2: f64 = p.iter().zip([1.0, 2.0, 3.0]).map(|(a, b)| (a - b).powi(2)).sum();
            (r2.sqrt() - 1.9).abs() < 1e-12
        }));
        let weights = weights(&points, 0.2, 0.4);
        let (min, max) = weights.iter().fold((f64::MAX, 0.0_f64), |(min, max), w| (min.min(*w), max.max(*w)));
        assert!(max < 1.25 * min, "{min} to {max}");
    }
}
