//! Shape of a heap of particles in a few numbers: run-out, spread, and number of pieces.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use frazil_io::{Frame, json};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Minimum share of all particles in a fragment; smaller pieces are powder.
pub const FRAGMENT_SHARE: f64 = 0.01;

/// Shape of all particles at one instant. Shares and means are by mass, or by number if a frame has no
/// masses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShapeStatistics {
    /// Maximum distance along x of any particle from the initial centre, in m.
    pub run_out_m: f64,
    /// Centre of mass in m.
    pub centre_m: [f64; 3],
    /// Root mean square of the distances from the centre of mass, in m.
    pub spread_m: f64,
    /// Number of connected pieces of any size.
    pub n_pieces: u64,
    /// Number of pieces with at least [`FRAGMENT_SHARE`] of all particles.
    pub n_fragments: u64,
    /// Number of pieces of a single particle.
    pub n_isolated: u64,
    /// Share in the largest piece.
    pub largest_share: f64,
    /// Share in pieces that are smaller than fragments.
    pub powder_share: f64,
    /// Distance in m within which two particles belong to one piece.
    pub linking_length_m: f64,
}

impl ShapeStatistics {
    /// Measures a frame. Two particles belong to one piece if they, or others between them, are at most
    /// `linking_length_m` apart. The result does not depend on the order of particles except for the rounding
    /// of sums.
    ///
    /// # Panics
    /// If the linking length is not above 0.
    pub fn measure(frame: &Frame, start_x_m: f64, linking_length_m: f64) -> Self {
        assert!(linking_length_m > 0.0, "a linking length of {linking_length_m} m");
        let positions = frame.positions();
        let masses = frame.f32("mass").ok();
        let mass = |i: usize| masses.map_or(1.0, |masses| f64::from(masses[i]));
        let total: f64 = (0..positions.len()).map(mass).sum();
        let share = |mass: f64| if total > 0.0 { mass / total } else { 0.0 };

        let (mut run_out_m, mut centre_m, mut spread_m2) = (0.0_f64, [0.0; 3], 0.0);
        for (i, position) in positions.iter().enumerate() {
            run_out_m = run_out_m.max((f64::from(position[0]) - start_x_m).abs());
            for (sum, x) in centre_m.iter_mut().zip(position) {
                *sum += share(mass(i)) * f64::from(*x);
            }
        }
        for (i, position) in positions.iter().enumerate() {
            let square: f64 = position.iter().zip(centre_m).map(|(x, c)| (f64::from(*x) - c).powi(2)).sum();
            spread_m2 += share(mass(i)) * square;
        }

        let pieces = pieces(positions, linking_length_m);
        let mut sizes: BTreeMap<usize, (u64, f64)> = BTreeMap::new();
        for (i, piece) in pieces.into_iter().enumerate() {
            let (count, sum) = sizes.entry(piece).or_default();
            *count += 1;
            *sum += mass(i);
        }
        let min_count = FRAGMENT_SHARE * positions.len() as f64;
        let n_fragments = sizes.values().filter(|(count, _)| *count as f64 >= min_count).count();
        let powder = sizes.values().filter(|(count, _)| (*count as f64) < min_count).map(|(_, mass)| *mass);
        Self {
            run_out_m,
            centre_m,
            spread_m: spread_m2.sqrt(),
            n_pieces: sizes.len() as u64,
            n_fragments: n_fragments as u64,
            n_isolated: sizes.values().filter(|(count, _)| *count == 1).count() as u64,
            largest_share: share(sizes.values().map(|(_, sum)| *sum).fold(0.0, f64::max)),
            // The sum of no numbers is −0, which would be visible in tables.
            powder_share: share(powder.fold(0.0, |sum, mass| sum + mass)),
            linking_length_m,
        }
    }

    /// Returns names with units, and values, in the order of tables.
    pub fn columns(&self) -> [(&'static str, f64); 11] {
        let [x, y, z] = self.centre_m;
        [
            ("run_out [m]", self.run_out_m),
            ("centre_x [m]", x),
            ("centre_y [m]", y),
            ("centre_z [m]", z),
            ("spread [m]", self.spread_m),
            ("n_pieces", self.n_pieces as f64),
            ("n_fragments", self.n_fragments as f64),
            ("n_isolated", self.n_isolated as f64),
            ("largest_share", self.largest_share),
            ("powder_share", self.powder_share),
            ("linking_length [m]", self.linking_length_m),
        ]
    }

    /// Writes `shape.json`. The file appears complete or not at all.
    ///
    /// # Errors
    /// [`Io`](frazil_io::Error::Io), naming the path.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(json::write(path, self)?)
    }

    /// Reads `shape.json`.
    ///
    /// # Errors
    /// [`Io`](frazil_io::Error::Io); [`Json`](frazil_io::Error::Json) with line and column.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(json::read_unversioned(path)?)
    }
}

/// Returns the number of each particle's piece, common to all particles of the piece.
fn pieces(positions: &[[f32; 3]], distance_m: f64) -> Vec<usize> {
    let wide = |i: usize| positions[i].map(f64::from);
    // Cells as wide as the distance: linked particles are in the same cell or in neighbours.
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    for i in 0..positions.len() {
        cells.entry(wide(i).map(|x| (x / distance_m).floor() as i64)).or_default().push(i);
    }
    let mut parents: Vec<usize> = (0..positions.len()).collect();
    let mut link = |i: usize, other: usize| {
        let (a, b) = (root(&mut parents, i), root(&mut parents, other));
        let square: f64 = wide(i).into_iter().zip(wide(other)).map(|(x, y)| (x - y).powi(2)).sum();
        if a != b && square <= distance_m * distance_m {
            parents[a.max(b)] = a.min(b);
        }
    };
    for (cell, members) in &cells {
        for (k, &i) in members.iter().enumerate() {
            members[k + 1..].iter().for_each(|&other| link(i, other));
        }
        for neighbour in later_neighbours(*cell) {
            for &other in cells.get(&neighbour).into_iter().flatten() {
                members.iter().for_each(|&i| link(i, other));
            }
        }
    }
    (0..positions.len()).map(|i| root(&mut parents, i)).collect()
}

/// Returns the 13 of a cell's 26 neighbours that follow it, so that each pair is visited once.
fn later_neighbours([x, y, z]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    let offsets = (14..27_i64).map(|i| [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1]);
    offsets.map(move |[dx, dy, dz]| [x.saturating_add(dx), y.saturating_add(dy), z.saturating_add(dz)])
}

/// Returns the minimum member of a set, halving the path to it.
fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_io::Column;
    use std::fs;

    fn frame(positions: Vec<[f32; 3]>) -> Frame {
        let ids = (0..positions.len() as u32).collect();
        let columns = vec![Column::vec3("position", "m", positions), Column::u32("id", "", ids)];
        Frame::new(0, 0.0, columns).unwrap()
    }

    /// Makes a row of `n` particles, 0.5 apart, from `x` on.
    fn row(x: f32, n: usize) -> impl Iterator<Item = [f32; 3]> {
        (0..n).map(move |i| [x + 0.5 * i as f32, 0.25, -0.25])
    }

    #[test]
    fn two_particles_have_the_expected_centre_spread_and_run_out() {
        let shape = ShapeStatistics::measure(&frame(vec![[1.0, 0.0, 2.0], [3.0, 0.0, 2.0]]), 4.0, 0.5);
        assert_eq!((shape.centre_m, shape.spread_m, shape.run_out_m), ([2.0, 0.0, 2.0], 1.0, 3.0));
        assert_eq!((shape.n_fragments, shape.largest_share, shape.powder_share), (2, 0.5, 0.0));
    }

    #[test]
    fn a_gap_separates_fragments_and_single_grains_are_powder() {
        let whole = ShapeStatistics::measure(&frame(row(-50.0, 200).collect()), 0.0, 1.0);
        assert_eq!((whole.n_fragments, whole.largest_share, whole.powder_share), (1, 1.0, 0.0));
        assert!(whole.powder_share.is_sign_positive());
        // 120 and 77 particles and three grains, of which each is half a percent.
        let grains = [[100.0, 0.0, 0.0], [104.0, 0.0, 0.0], [100.0, 4.0, 0.0]];
        let broken = row(-70.0, 120).chain(row(0.0, 77)).chain(grains).collect();
        let broken = ShapeStatistics::measure(&frame(broken), 0.0, 1.0);
        assert_eq!((broken.n_pieces, broken.n_fragments, broken.n_isolated), (5, 2, 3));
        assert!((broken.largest_share - 0.6).abs() < 1e-12 && (broken.powder_share - 0.015).abs() < 1e-12);
        assert_eq!(broken.run_out_m, 104.0);
    }

    #[test]
    fn particles_are_linked_up_to_the_distance_in_all_directions() {
        for dx in [-1.0_f32, 0.0, 1.0] {
            for dy in [-1.0_f32, 0.0, 1.0] {
                for dz in [-1.0_f32, 0.0, 1.0] {
                    let length = (dx * dx + dy * dy + dz * dz).sqrt().max(1.0);
                    let n_pieces = |distance: f32| {
                        let other = [dx, dy, dz].map(|x| 0.3 + x * distance / length);
                        ShapeStatistics::measure(&frame(vec![[0.3; 3], other]), 0.0, 1.0).n_pieces
                    };
                    let is_same = [dx, dy, dz] == [0.0; 3];
                    assert_eq!((n_pieces(0.999), n_pieces(1.001)), (1, if is_same { 1 } else { 2 }));
                }
            }
        }
    }

    #[test]
    fn pieces_do_not_depend_on_the_order_of_particles() {
        // A ring, whose cells are joined from both sides.
        let at = |i: usize| {
            let angle = std::f32::consts::TAU * i as f32 / 300.0;
            [10.0 * angle.cos(), 10.0 * angle.sin(), 0.0]
        };
        let orders = [1, 7, 101].map(|stride| (0..300).map(|i| at(i * stride % 300)).collect::<Vec<_>>());
        for order in orders {
            assert_eq!(ShapeStatistics::measure(&frame(order), 0.0, 0.3).n_fragments, 1);
        }
    }

    #[test]
    fn masses_weigh_where_there_are_any() {
        let positions = vec![[0.0; 3], [4.0, 0.0, 0.0]];
        let columns = vec![
            Column::vec3("position", "m", positions),
            Column::u32("id", "", vec![0, 1]),
            Column::f32("mass", "kg", vec![3.0, 1.0]),
        ];
        let shape = ShapeStatistics::measure(&Frame::new(0, 0.0, columns).unwrap(), 0.0, 1.0);
        assert_eq!((shape.centre_m[0], shape.largest_share), (1.0, 0.75));
    }

    #[test]
    fn no_particles_have_no_pieces() {
        let shape = ShapeStatistics::measure(&frame(Vec::new()), 0.0, 1.0);
        assert_eq!(
            (shape.n_pieces, shape.n_fragments, shape.largest_share, shape.spread_m),
            (0, 0, 0.0, 0.0)
        );
    }

    #[test]
    fn a_shape_round_trips_through_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shape.json");
        let shape = ShapeStatistics::measure(&frame(row(0.1, 3).collect()), 0.3, 0.7);
        shape.write(&path).unwrap();
        assert_eq!(ShapeStatistics::read(&path).unwrap(), shape);
        fs::write(&path, "{}").unwrap();
        assert!(ShapeStatistics::read(&path).unwrap_err().to_string().contains("shape.json: missing field"));
    }
}
