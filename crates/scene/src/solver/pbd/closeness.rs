//! Warns about particles that start closer together than their spacing.

use std::collections::BTreeMap;

use super::fluid::Fluid;
use crate::Scene;
use crate::scene::Phase;
use crate::scene::sample::Sampled;

/// Share of a spacing by which the rounding of positions may bring particles closer.
const ROUNDING: f64 = 1e-3;

/// Density over that of the lattice from which a particle counts as compressed: that of a lattice at 0.97 of
/// its spacing.
const MAX_DENSITY_RATIO: f64 = 1.1;

/// Share of close pairs with a compressed particle from which the blocks are compressed. Disorder also brings
/// particles together, but others apart: of the close pairs of a lattice with a jitter of 0.1 spacings, as
/// in the built-in scenes, one in twenty has a compressed particle; at 0.95 of the spacing, all beneath the
/// surface have.
const MIN_COMPRESSED_SHARE: f64 = 0.2;

/// Number of particles in a cell, over that on a lattice, from which pairs are no longer counted: their
/// number grows with the square. At a third of the spacing there are 27 times as many.
const MAX_CELL_RATIO: f64 = 30.0;

/// Indices of the particles in each cell, in an order that gives the same sums in each run.
type Cells = BTreeMap<[i64; 3], Vec<usize>>;

/// Pairs of particles of two blocks that are closer than a spacing.
struct ClosePairs {
    n: usize,
    n_compressed: usize,
    closest_m: f64,
    max_density_ratio: f64,
}

impl Scene {
    /// Warns about blocks whose particles are compressed at time 0, as points of a file with another spacing
    /// or overlapping ones are: the solver pushes them apart in the first step.
    pub(crate) fn advise_closeness(
        &self,
        warn: &mut dyn FnMut(&str, String),
        fluid: &Fluid,
        sampled: &Sampled,
    ) {
        // A disordered start is taken to rest density before the first step.
        if self.initial_disorder_spacings() > 0.0 {
            return;
        }
        let (d, h) = (fluid.particle_spacing_m, fluid.support_radius_m());
        let spacing_m = |idx: usize| self.phase_spacing_m(sampled.phases[idx]);
        let farthest_m = (1.0 - ROUNDING) * d.max(self.snow_spacing_m());
        let mut cells = Cells::new();
        for (idx, position) in sampled.positions_m.iter().enumerate() {
            let cell = position.map(|x| (f64::from(x) / h).floor() as i64);
            cells.entry(cell).or_default().push(idx);
        }
        let block_of = |idx: usize| sampled.block_ends.partition_point(|&end| end <= idx);
        let cause = if self.snow().is_some() { "contacts and pressure push" } else { "pressure pushes" };
        let effect = format!(
            "{cause} them apart, which adds energy from nothing; increase their distances, or reduce \
             fluid.particle_spacing_m, {d} m"
        );
        let n_on_lattice = (h / d).powi(3);
        let Some(fullest) = cells.values().max_by_key(|cell| (cell.len(), cell[0])) else { return };
        let fullness = fullest.len() as f64 / n_on_lattice;
        if fullness > MAX_CELL_RATIO {
            let key = format!("particles.{}.shape", block_of(fullest[0]));
            warn(
                &key,
                format!("has {fullness:.0} times as many particles in a volume as a lattice: {effect}"),
            );
            return;
        }
        let ratios = self.density_ratios(&cells, h, sampled);
        let mut by_blocks: BTreeMap<[usize; 2], ClosePairs> = BTreeMap::new();
        visit_pairs(&cells, &sampled.positions_m, farthest_m, |a, b, distance_m| {
            if distance_m >= 0.5 * (1.0 - ROUNDING) * (spacing_m(a) + spacing_m(b)) {
                return;
            }
            let ratio = ratios[a].max(ratios[b]);
            let pairs = by_blocks.entry([block_of(a), block_of(b)]).or_insert(ClosePairs {
                n: 0,
                n_compressed: 0,
                closest_m: distance_m,
                max_density_ratio: ratio,
            });
            pairs.n += 1;
            pairs.n_compressed += usize::from(ratio > MAX_DENSITY_RATIO);
            pairs.closest_m = pairs.closest_m.min(distance_m);
            pairs.max_density_ratio = pairs.max_density_ratio.max(ratio);
        });
        let is_compressed =
            |pairs: &ClosePairs| pairs.n_compressed as f64 >= MIN_COMPRESSED_SHARE * pairs.n as f64;
        for ([a, b], pairs) in by_blocks.into_iter().filter(|(_, pairs)| is_compressed(pairs)) {
            let of = if a == b { "its".to_owned() } else { format!("its and particles.{b}'s") };
            warn(
                &format!("particles.{a}.shape"),
                format!(
                    "{} pairs of {of} particles are closer than a spacing, the closest at {:.3} spacings, \
                     and up to {:.2} times as dense as a lattice: {effect}",
                    pairs.n,
                    pairs.closest_m / d,
                    pairs.max_density_ratio
                ),
            );
        }
    }

    /// Returns the density of each particle, by the cubic spline, over that of one within a lattice.
    fn density_ratios(&self, cells: &Cells, support_m: f64, sampled: &Sampled) -> Vec<f64> {
        let on_lattice = 1.0 + self.lattice_sum(spline);
        let of_snow = self.snow_volume_ratio();
        let volume = |idx: usize| if sampled.phases[idx] == Phase::Snow { of_snow } else { 1.0 };
        let mut ratios: Vec<f64> = (0..sampled.len()).map(|idx| volume(idx) / on_lattice).collect();
        visit_pairs(cells, &sampled.positions_m, support_m, |a, b, distance_m| {
            let share = spline(distance_m / support_m) / on_lattice;
            ratios[a] += volume(b) * share;
            ratios[b] += volume(a) * share;
        });
        ratios
    }
}

/// The cubic B-spline of Monaghan 1992 on 0 to 1, over its value at 0.
fn spline(q: f64) -> f64 {
    if q < 0.5 { 1.0 - 6.0 * q * q * (1.0 - q) } else { 2.0 * (1.0 - q).max(0.0).powi(3) }
}

/// Calls `visit` with the indices of each pair closer than `reach_m`, which is at most the edge of a cell,
/// the lower first, and with their distance.
fn visit_pairs(
    cells: &Cells,
    positions_m: &[[f32; 3]],
    reach_m: f64,
    mut visit: impl FnMut(usize, usize, f64),
) {
    for (cell, own) in cells {
        // The cell itself, and those of the 26 around it that come after it: each pair of cells once.
        for neighbour in 13..27 {
            let offset = [neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1];
            let Some(others) = cells.get(&std::array::from_fn(|axis| cell[axis] + offset[axis])) else {
                continue;
            };
            for (at, &a) in own.iter().enumerate() {
                let after = if neighbour == 13 { &others[at + 1..] } else { others };
                for &b in after {
                    let along =
                        |axis: usize| f64::from(positions_m[a][axis]) - f64::from(positions_m[b][axis]);
                    let distance_m = (0..3).map(|axis| along(axis).powi(2)).sum::<f64>().sqrt();
                    if distance_m < reach_m {
                        visit(a.min(b), a.max(b), distance_m);
                    }
                }
            }
        }
    }
}
