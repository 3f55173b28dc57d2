//! The density of particles at nodes.

use super::nodes::{Nodes, split};
use crate::sph::cubic_spline;
use glam::DVec3;
use std::collections::HashMap;

/// Returns Σ m W(x_i − x_p) of particles, given as positions in m and masses in kg, with the cubic spline of
/// support `radius_m`.
pub fn splat_density(node_m: DVec3, particles: &[(DVec3, f64)], radius_m: f64) -> f64 {
    particles
        .iter()
        .map(|(place_m, mass_kg)| mass_kg * cubic_spline(node_m.distance(*place_m), radius_m))
        .sum()
}

/// Returns that density at all nodes of a lattice, whose node 0 is at `origin_m`, by adding each particle's
/// contribution to the nodes that it reaches.
pub fn splat_densities(origin_m: DVec3, cell_m: f64, particles: &[(DVec3, f64)], radius_m: f64) -> Nodes {
    let mut blocks: HashMap<[i64; 3], [f64; 64]> = HashMap::new();
    for (place_m, mass_kg) in particles {
        let lowest = ((*place_m - origin_m - radius_m) / cell_m).ceil().to_array().map(|n| n as i64);
        let highest = ((*place_m - origin_m + radius_m) / cell_m).floor().to_array().map(|n| n as i64);
        for z in lowest[2]..=highest[2] {
            for y in lowest[1]..=highest[1] {
                for x in lowest[0]..=highest[0] {
                    let node_m = origin_m + cell_m * DVec3::new(x as f64, y as f64, z as f64);
                    let (block, place) = split([x, y, z]);
                    blocks.entry(block).or_insert([0.0; 64])[place] +=
                        mass_kg * cubic_spline(node_m.distance(*place_m), radius_m);
                }
            }
        }
    }
    let mut nodes = Nodes::default();
    for ([z, y, x], values) in blocks {
        nodes.insert([x, y, z], values);
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathered_and_scattered_densities_agree_and_have_the_mass_of_the_particles() {
        let (origin_m, cell_m) = (DVec3::new(-1.0, 0.5, 0.25), 0.2);
        let particle = |i: i32| {
            let along = |step: f64| (f64::from(i) * step).sin();
            (DVec3::new(along(1.1), along(2.3) - 2.0, along(0.7) + 3.0), 0.1 + f64::from(i % 3))
        };
        let particles: Vec<_> = (0..40).map(particle).collect();
        let nodes = splat_densities(origin_m, cell_m, &particles, 0.4);
        let mut weight_kg = 0.0;
        for block in nodes.blocks() {
            for n in 0..64 {
                let node = std::array::from_fn(|axis| 4 * block[axis] + (n >> (2 * axis) & 3));
                let node_m = origin_m + cell_m * DVec3::from_array(node.map(|n| n as f64));
                let expected = splat_density(node_m, &particles, 0.4);
                assert!((nodes.value(node) - expected).abs() <= 1e-12 * expected, "{node:?}");
                weight_kg += nodes.value(node) * cell_m.powi(3);
            }
        }
        let expected_kg: f64 = particles.iter().map(|(_, mass_kg)| mass_kg).sum();
        assert!((weight_kg / expected_kg - 1.0).abs() < 5e-3, "{weight_kg} kg of {expected_kg}");
    }
}
