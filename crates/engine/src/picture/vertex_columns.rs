//! Properties of particles at the vertices of their surface, for files of other programs.

use super::coloring::{self, Heights};
use super::shown::Shown;
use crate::failure::Failure;
use frazil_io::{Column, ColumnData};
use frazil_particles::ColumnKind;
use frazil_scene::Scene;
use frazil_vk::Device;
use std::collections::HashMap;

const VELOCITY: &str = "velocity";
/// Radius of the mean, in mean distances of particles.
const RADIUS_SPACINGS: f64 = 2.0;

/// Returns the velocity and the property of a name at the vertices, each if all particles have it: the mean
/// of the particles around, weighted by (1 - r²/R²)³ with R two mean distances of particles, or that of the
/// nearest particle if there is none within R. It waits for the device.
pub fn vertex_columns(
    device: &Device,
    scene: &Scene,
    shown: &Shown<'_>,
    vertices: &[[f32; 3]],
    property: &str,
) -> Result<Vec<Column>, Failure> {
    let (infos, heights) = (frazil_solvers::set_infos(scene, 0), Heights::of(scene));
    let mut positions: Vec<[f32; 3]> = Vec::new();
    let mut velocities: Vec<[f32; 3]> = Vec::new();
    let mut values: Vec<f32> = Vec::new();
    let mut label = None;
    for set in &shown.sets {
        let n = set.count.capacity as usize;
        let vectors = |name: &str| -> Result<Vec<[f32; 3]>, Failure> {
            let column = set.column(name).filter(|column| column.kind == ColumnKind::Vec3);
            Ok(column.map(|column| device.download(&column.words.cast(), n)).transpose()?.unwrap_or_default())
        };
        positions.extend(vectors("position")?);
        velocities.extend(vectors(VELOCITY)?);
        let info = infos.iter().find(|info| info.name == set.name);
        if let Some(found) = coloring::find(set, info, property, heights) {
            values.extend(found.values.download(device, n)?);
            label = Some((property.replace('.', "_"), found.unit));
        }
    }
    let near = Neighbours::new(&positions, RADIUS_SPACINGS * scene.particle_spacing_m());
    let weights: Vec<Vec<(u32, f64)>> = vertices.iter().map(|vertex| near.weights(*vertex)).collect();
    let mean = |of: &dyn Fn(usize) -> f32| -> Vec<f32> {
        let at = |weights: &Vec<(u32, f64)>| {
            weights.iter().map(|&(i, weight)| weight * f64::from(of(i as usize))).sum::<f64>() as f32
        };
        weights.iter().map(at).collect()
    };
    let mut columns = Vec::new();
    if !positions.is_empty() && velocities.len() == positions.len() {
        let [x, y, z] = [0, 1, 2].map(|axis: usize| mean(&|i| velocities[i][axis]));
        let mean = (0..vertices.len()).map(|vertex| [x[vertex], y[vertex], z[vertex]]).collect();
        columns.push(Column::new(VELOCITY, "m/s", ColumnData::Vec3(mean)));
    }
    if let Some((name, unit)) = label
        && values.len() == positions.len()
        && name != VELOCITY
    {
        columns.push(Column::f32(name, unit, mean(&|i| values[i])));
    }
    Ok(columns)
}

/// Particles by cells whose side is the radius of the search.
struct Neighbours<'a> {
    positions: &'a [[f32; 3]],
    radius_m: f64,
    cells: HashMap<[i64; 3], Vec<u32>>,
}

impl<'a> Neighbours<'a> {
    fn new(positions: &'a [[f32; 3]], radius_m: f64) -> Self {
        let mut cells: HashMap<_, Vec<u32>> = HashMap::new();
        for (i, position) in positions.iter().enumerate() {
            cells.entry(cell(*position, radius_m)).or_default().push(i as u32);
        }
        Self { positions, radius_m, cells }
    }

    /// Returns the particles around a place with their weights, whose sum is 1 unless there is no particle.
    fn weights(&self, place: [f32; 3]) -> Vec<(u32, f64)> {
        let [x, y, z] = cell(place, self.radius_m);
        let around = (-1..=1).flat_map(|i| (-1..=1).flat_map(move |j| (-1..=1).map(move |k| [i, j, k])));
        let found = around.filter_map(|[i, j, k]| self.cells.get(&[x + i, y + j, z + k])).flatten();
        let weight = |i: u32| (1.0 - self.distance2_m2(i, place) / self.radius_m.powi(2)).max(0.0).powi(3);
        let mut weights: Vec<(u32, f64)> = found.map(|&i| (i, weight(i))).filter(|(_, w)| *w > 0.0).collect();
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        if sum > 0.0 {
            weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
            return weights;
        }
        let distance = |i: &u32| self.distance2_m2(*i, place);
        let nearest = (0..self.positions.len() as u32).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map(|i| (i, 1.0)).into_iter().collect()
    }

    fn distance2_m2(&self, i: u32, place: [f32; 3]) -> f64 {
        let other = self.positions[i as usize];
        (0..3).map(|axis| (f64::from(other[axis]) - f64::from(place[axis])).powi(2)).sum()
    }
}

fn cell(position: [f32; 3], side_m: f64) -> [i64; 3] {
    position.map(|x| (f64::from(x) / side_m).floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_all_particles_within_the_radius_else_of_the_nearest() {
        let positions: Vec<[f32; 3]> = (0..40).map(|i| [0.1 * i as f32 - 2.0, 0.0, 0.0]).collect();
        let near = Neighbours::new(&positions, 0.25);
        for place in [[-0.03, 0.1, 0.0], [0.26, -0.1, 0.1], [-2.2, 0.0, 0.05]] {
            let found = near.weights(place);
            let within = (0..40).filter(|&i| near.distance2_m2(i, place) < 0.25 * 0.25).count();
            assert_eq!(found.len(), within, "{place:?}");
            assert!((found.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        assert_eq!(near.weights([5.0, 1.0, 0.0]), [(39, 1.0)]);
        // A linear field is reproduced between evenly spaced particles.
        let mean: f64 = near
            .weights([0.05, 0.0, 0.0])
            .iter()
            .map(|&(i, w)| w * f64::from(positions[i as usize][0]))
            .sum();
        assert!((mean - 0.05).abs() < 1e-6, "{mean}");
    }
}
