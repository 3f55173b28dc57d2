//! Fills a scene's shapes and release areas with grains.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;

use super::cells::Cells;
use super::random_packing::pack;
use super::release_sampling::{AreaLattice, Found, Place, groups, is_near, visit_grains, volume_m3};
use crate::check::number;
use crate::random::unit_interval;
use crate::watch::Watch;
use crate::{
    Dem, Fill, ParticleBlock, Phase, Release, ReleaseArea, Sampled, SampledSlabs, Scene, SceneError, Vec3,
};

/// Default volume fraction of a random packing of grains.
const PACKING_FRACTION: f64 = 0.55;

/// Fractions of the default number of grains that are tried in turn if the scene gives no number, because a
/// narrow shape holds fewer.
const COUNT_FRACTIONS: [f64; 4] = [1.0, 0.9, 0.8, 0.65];

/// Tolerated overlap of grains, as a share of their radii.
const OVERLAP_TOLERANCE: f64 = 1e-3;

/// Share of all work that blocks and releases are, before the search for overlaps of all grains.
const BLOCKS_SHARE: f64 = 0.9;

/// Distance in diameters of the largest grain within which areas share a lattice: more than grains are
/// displaced by.
const NEAR_DIAMETERS: f64 = 4.0;

/// Tolerated share of an area's grains that are in an earlier area, too, and their number that is tolerated
/// in any case: outlines that were drawn by hand overlap a little.
const MAX_SHARED: f64 = 0.03;
const MIN_SHARED_GRAINS: usize = 10;

/// First random stream of releases, after those of blocks.
const FIRST_RELEASE_STREAM: u64 = 1 << 32;

impl Scene {
    /// Returns the expected number of grains of a release: as many as its volume holds.
    pub(crate) fn grains_of_release(&self, release: &Release, dem: &Dem) -> f64 {
        let (Some(terrain), Some(areas)) = (self.ground(), release.areas()) else {
            return 0.0;
        };
        let volume_m3: f64 = areas.iter().map(|area| volume_m3(area, terrain)).sum();
        (volume_m3 * release.bulk_density_kg_m3(dem) / dem.mean_grain_mass_kg()).round()
    }

    /// Returns the number of grains of a random packing.
    pub(crate) fn random_count(&self, block: &ParticleBlock, dem: &Dem) -> f64 {
        let share = block.packing_fraction.unwrap_or(PACKING_FRACTION);
        (share * block.shape.volume_m3() * dem.density_kg_m3 / dem.mean_grain_mass_kg()).floor()
    }

    /// Returns the grains at time 0: of blocks, then of releases.
    pub(crate) fn sample_grains(&self, dem: &Dem, watch: &mut Watch<'_>) -> Result<Sampled, SceneError> {
        // A lower bound of the memory required.
        drop(self.reserve_columns()?);
        let n_expected = (self.particle_count_estimate() as f64).max(1.0);
        let mut grains = Grains::default();
        // Sampled with the first grains.
        let mut slabs = None;
        // Expected number of grains of the blocks and releases so far.
        let mut n_before = 0.0;
        for (idx, block) in self.particles.iter().enumerate() {
            let key = format!("particles.{idx}.shape.{}", block.shape.name());
            if !block.shape.is_loaded() {
                return Err(self.not_there(&key));
            }
            let mut rng = self.stream(idx as u64);
            let begin = grains.centres_m.len();
            let n_block = self.block_count_estimate(block);
            let share = |of_block: f64| BLOCKS_SHARE * (n_before + of_block * n_block) / n_expected;
            let stage = format!("particles.{idx}: {n_block} grains");
            watch.begin(&stage, share(0.7), 100.0 * n_block)?;
            self.fill_with_grains((idx, block), dem, &mut rng, &mut grains, watch, (&stage, share(0.7)))?;
            let n = (grains.centres_m.len() - begin) as f64;
            watch.begin(&format!("{stage}: placement"), share(1.0), n * self.n_obstacles())?;
            self.refuse_misplaced_grains(&key, &grains, begin, dem, &mut slabs, watch)?;
            n_before += n_block;
            for (i, centre) in grains.centres_m[begin..].iter().enumerate() {
                watch.tick(1)?;
                grains.velocities_m_s.push(block.velocity_at(i, centre.map(|x| x as f32)));
            }
            let spin = block.angular_velocity_rad_s.unwrap_or_default().map(|w| w as f32);
            grains.spins_rad_s.resize(grains.centres_m.len(), spin);
            grains.ends.push(grains.centres_m.len());
        }
        // Areas of all releases, since those near each other share a lattice.
        let areas: Vec<_> = dem.releases.iter().map(|release| release.areas().unwrap_or_default()).collect();
        let of_releases = dem.releases.iter().zip(&areas).flat_map(|(release, areas)| {
            let volume_m3 = dem.mean_grain_mass_kg() / release.bulk_density_kg_m3(dem);
            areas.iter().map(move |area| Place { area, volume_m3 })
        });
        let places: Vec<Place<'_>> = of_releases.collect();
        let reach_m = 2.0 * NEAR_DIAMETERS * dem.max_radius_m();
        let groups = groups(&places, reach_m);
        let mut lattices: Vec<Option<AreaLattice>> = places.iter().map(|_| None).collect();
        // First grain of each area.
        let mut begins: Vec<usize> = Vec::with_capacity(places.len());
        for (idx, release) in dem.releases.iter().enumerate() {
            let key = format!("dem.releases.{idx}");
            let (Some(terrain), true) = (self.ground(), release.areas().is_some()) else {
                return Err(self.not_there(&key));
            };
            let begin = grains.centres_m.len();
            let n_release = self.grains_of_release(release, dem);
            let share = |of_release: f64| BLOCKS_SHARE * (n_before + of_release * n_release) / n_expected;
            let stage = format!("{key}: {n_release} grains");
            watch.begin(&stage, share(0.7), n_release)?;
            let first_place = begins.len();
            for area_idx in 0..areas[idx].len() {
                let mut rng = self.stream(FIRST_RELEASE_STREAM + ((idx as u64) << 20) + area_idx as u64);
                let place = begins.len();
                let Place { area, volume_m3 } = places[place];
                let lattice = lattices[groups[place]].get_or_insert_with(|| {
                    let same = |other: &usize| groups[*other] == groups[place];
                    let of_group: Vec<_> =
                        (0..places.len()).filter(same).map(|other| places[other].area).collect();
                    AreaLattice::new(&of_group, volume_m3, dem, terrain, &mut rng)
                });
                let (area_begin, mut off_map) = (grains.centres_m.len(), None);
                begins.push(area_begin);
                let meets = |other: &&Place<'_>| is_near(other, &places[place], f64::MIN_POSITIVE);
                let earlier: Vec<&ReleaseArea> =
                    places[..place].iter().filter(meets).map(|other| other.area).collect();
                let lattice = (&*lattice, release.jitter);
                let n_shared = visit_grains(
                    (area, &earlier),
                    lattice,
                    dem,
                    terrain,
                    &mut rng,
                    watch,
                    |found| match found {
                        Found::Grain(centre_m, radius_m) => grains.push(centre_m, radius_m),
                        Found::OffMap(at) => off_map = off_map.or(Some(at)),
                    },
                )?;
                let n = n_shared + grains.centres_m.len() - area_begin;
                if n_shared >= MIN_SHARED_GRAINS && n_shared as f64 > MAX_SHARED * n as f64 {
                    return Err(self.value_error(
                        &key,
                        format!(
                            "{n_shared} of {n} grains of polygon {} in an earlier polygon, too",
                            area_idx + 1
                        ),
                        "polygons that do not overlap",
                    ));
                }
                if let Some(at) = off_map {
                    let [easting, northing] = terrain.to_map_m(at).map(number);
                    return Err(self.value_error(
                        &key,
                        format!(
                            "unknown heights within area {}, as at easting {easting} m and northing \
                                 {northing} m",
                            area_idx + 1
                        ),
                        "an area on the known heights of the terrain",
                    ));
                }
            }
            // Beside earlier releases, theirs come first: along a common edge there is space for one only, on
            // a lattice of their own and on one that they share.
            let own = first_place..begins.len();
            let meets_own = |earlier: usize| {
                own.clone().any(|own| {
                    groups[own] == groups[earlier] || is_near(&places[own], &places[earlier], reach_m)
                })
            };
            let first_near = (0..first_place).find(|earlier| meets_own(*earlier));
            grains.drop_crowded(begin, first_near.map_or(begin, |place| begins[place]), watch)?;
            if grains.centres_m.len() == begin {
                return Err(self.value_error(
                    &key,
                    format!(
                        "no grains, because the snow is too little for those of {} m",
                        number(dem.radius_m)
                    ),
                    "a thicker or wider area, or smaller grains",
                ));
            }
            let n = (grains.centres_m.len() - begin) as f64;
            watch.begin(&format!("{stage}: placement"), share(1.0), n * self.n_obstacles())?;
            self.refuse_misplaced_grains(&key, &grains, begin, dem, &mut slabs, watch)?;
            n_before += n_release;
            grains.velocities_m_s.resize(grains.centres_m.len(), release.velocity_m_s.map(|v| v as f32));
            grains.spins_rad_s.resize(grains.centres_m.len(), [0.0; 3]);
            grains.ends.push(grains.centres_m.len());
        }
        watch.begin("overlaps of grains", 1.0, 6.0 * grains.centres_m.len() as f64)?;
        self.refuse_overlaps(&grains, watch)?;
        Ok(grains.sampled(dem))
    }

    /// Returns the number of things that each grain is compared with.
    fn n_obstacles(&self) -> f64 {
        (self.bodies.len() + 3) as f64
    }

    /// Returns a random stream of its own, so that a change to one block leaves the others' grains where they
    /// were.
    fn stream(&self, stream: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(stream);
        rng
    }

    fn not_there(&self, key: &str) -> SceneError {
        self.value_error(key, "a file that was not there when the scene was read", "an existing file")
    }

    fn fill_with_grains(
        &self,
        (idx, block): (usize, &ParticleBlock),
        dem: &Dem,
        rng: &mut ChaCha8Rng,
        grains: &mut Grains,
        watch: &mut Watch<'_>,
        (stage, to): (&str, f64),
    ) -> Result<(), SceneError> {
        let radius_m = |rng: &mut ChaCha8Rng| {
            dem.radius_m * (1.0 + dem.radius_spread * (2.0 * unit_interval(rng) - 1.0))
        };
        if block.fill != Fill::Random {
            let amplitude_m = block.jitter_spacings * self.particle_spacing_m();
            block.shape.visit_lattice(self.particle_spacing_m(), watch, |point| {
                let place = if amplitude_m > 0.0 { block.jittered(point, amplitude_m, rng) } else { point };
                let radius_m = radius_m(rng);
                grains.push(place, radius_m);
            })?;
            return Ok(());
        }
        let n_requested = self.block_count_estimate(block) as usize;
        let is_given = block.count.is_some() || block.packing_fraction.is_some();
        let shares: &[f64] = if is_given { &[1.0] } else { &COUNT_FRACTIONS };
        for share in shares {
            let n = (share * n_requested as f64) as usize;
            let radii_m: Vec<f64> = (0..n).map(|_| radius_m(rng)).collect();
            if let Some(centres_m) = pack(&block.shape, &radii_m, rng, watch, (stage, to))? {
                centres_m
                    .into_iter()
                    .zip(radii_m)
                    .for_each(|(centre_m, radius_m)| grains.push(centre_m, radius_m));
                return Ok(());
            }
        }
        let part = if block.count.is_some() { "count" } else { "packing_fraction" };
        Err(self.value_error(
            &format!("particles.{idx}.fill"),
            format!("{n_requested} grains at random that do not fit into the shape"),
            format!("a smaller particles.{idx}.{part}, or a shape wider against its grains"),
        ))
    }

    /// Refuses grains beyond the walls, under the terrain and inside bodies and pieces of slabs.
    fn refuse_misplaced_grains(
        &self,
        key: &str,
        grains: &Grains,
        begin: usize,
        dem: &Dem,
        slabs: &mut Option<SampledSlabs>,
        watch: &mut Watch<'_>,
    ) -> Result<(), SceneError> {
        let tolerance_m = OVERLAP_TOLERANCE * dem.radius_m;
        let refuse = |n: usize, first: Option<usize>, other: &str, what: String, expected: &str| match first {
            None => Ok(()),
            Some(idx) => {
                let [x, y, z] = grains.centres_m[idx].map(|x| number((x * 1e6).round() / 1e6));
                let of = grains.centres_m.len() - begin;
                Err(SceneError::Value {
                    at: self.source.locate_between(&[key, other]),
                    key: key.to_owned(),
                    found: format!("{n} of {of} grains {what}, the first at ({x}, {y}, {z}) m"),
                    expected: expected.to_owned(),
                })
            }
        };
        let mut count = |is_misplaced: &dyn Fn(Vec3, f64) -> bool| {
            let (mut n, mut first) = (0, None);
            for idx in begin..grains.centres_m.len() {
                watch.tick(1)?;
                if is_misplaced(grains.centres_m[idx], grains.radii_m[idx]) {
                    n += 1;
                    first = first.or(Some(idx));
                }
            }
            Ok::<(usize, Option<usize>), SceneError>((n, first))
        };
        let (min, max) = (self.domain.min_m, self.domain.max_m);
        let beyond = |c: Vec3, r: f64| {
            (0..3).any(|i| c[i] - r < min[i] - tolerance_m || c[i] + r > max[i] + tolerance_m)
        };
        let (n, first) = count(&beyond)?;
        refuse(n, first, "domain", "beyond the walls".to_owned(), "grains within the domain")?;
        if let Some(terrain) = self.ground() {
            let under =
                |c: Vec3, r: f64| terrain.distance_m(c).is_none_or(|distance_m| distance_m < r - tolerance_m);
            let (n, first) = count(&under)?;
            refuse(
                n,
                first,
                "terrain",
                "in the ground or off the map".to_owned(),
                "grains above the terrain",
            )?;
        }
        for (idx, body) in self.bodies.iter().enumerate() {
            let inside = |c: Vec3, r: f64| self.is_within_body(body, r - tolerance_m, c);
            let (n, first) = count(&inside)?;
            let name = format!("bodies.{idx}");
            let (found, expected) = body.misplaced(&name, "grains");
            refuse(n, first, &name, found, &(expected + &self.scale_hint_of_body(body)))?;
        }
        let d = self.particle_spacing_m();
        for (idx, stream) in self.streams().iter().enumerate() {
            let (n, first) = count(&|c: Vec3, r: f64| stream.holds(c, 2.0 * r + d))?;
            let name = format!("emitters.{idx}");
            refuse(n, first, &name, format!("in the pipe of {name}"), "grains outside of it")?;
        }
        if self.slabs().is_empty() {
            return Ok(());
        }
        let slabs = match slabs {
            Some(slabs) => slabs,
            none => none.insert(self.sample_slabs_watched(watch)?),
        };
        let max_m = grains.radii_m[begin..].iter().copied().fold(0.0, f64::max);
        let cells = Cells::new(&grains.centres_m[begin..], max_m.max(f64::MIN_POSITIVE), watch)?;
        for piece in &slabs.pieces {
            let (planes, reach_m) = (piece.planes(), piece.bounding_radius_m());
            let (mut n, mut first) = (0, usize::MAX);
            let mut n_visited = 0;
            let reach = reach_m + max_m;
            let corner = |sign: f64| std::array::from_fn(|i| piece.centre_m[i] + sign * reach);
            cells.visit_box([corner(-1.0), corner(1.0)], |idx| {
                let idx = begin + idx as usize;
                let (c, r) = (grains.centres_m[idx], grains.radii_m[idx]);
                n_visited += 1;
                let distance2: f64 = (0..3).map(|i| (c[i] - piece.centre_m[i]).powi(2)).sum();
                if distance2 < (reach_m + r).powi(2) && piece.distance_m(&planes, c) < r - tolerance_m {
                    (n, first) = (n + 1, first.min(idx));
                }
            });
            watch.tick(1 + n_visited)?;
            if n > 0 {
                let name = format!("dem.slabs.{}", piece.slab);
                return refuse(n, Some(first), &name, format!("inside {name}"), "grains outside slabs");
            }
        }
        Ok(())
    }

    /// Refuses overlapping grains: of overlapping blocks and areas, or of a lattice with too much jitter.
    fn refuse_overlaps(&self, grains: &Grains, watch: &mut Watch<'_>) -> Result<(), SceneError> {
        let Grains { centres_m, radii_m, .. } = grains;
        let max_m = radii_m.iter().copied().fold(0.0, f64::max);
        let cells = Cells::new(centres_m, 2.0 * max_m, watch)?;
        let (mut n, mut first) = (0_u64, None);
        for (a, centre) in centres_m.iter().enumerate() {
            watch.tick(1)?;
            cells.visit_near(*centre, |b| {
                let b = b as usize;
                let sum_m = (1.0 - OVERLAP_TOLERANCE) * (radii_m[a] + radii_m[b]);
                let distance2 = (0..3).map(|i| (centres_m[b][i] - centre[i]).powi(2)).sum::<f64>();
                if b > a && distance2 < sum_m * sum_m {
                    n += 1;
                    first = first.or(Some((a, b)));
                }
            });
        }
        let Some((a, b)) = first else { return Ok(()) };
        let (a_key, b_key) = (self.group_of(grains, a), self.group_of(grains, b));
        let what = if a_key == b_key { "each other".to_owned() } else { format!("those of {b_key}") };
        Err(SceneError::Value {
            at: self.source.locate_between(&[&a_key, &b_key]),
            key: a_key,
            found: format!("{n} pairs of grains that overlap {what}"),
            expected: "blocks and areas apart, and less jitter".to_owned(),
        })
    }

    /// Returns the key of the block or release that a grain belongs to.
    fn group_of(&self, grains: &Grains, idx: usize) -> String {
        let group = grains.ends.partition_point(|&end| end <= idx);
        match group.checked_sub(self.particles.len()) {
            None => format!("particles.{group}"),
            Some(release) => format!("dem.releases.{release}"),
        }
    }
}

/// Grains sampled so far.
#[derive(Default)]
struct Grains {
    centres_m: Vec<Vec3>,
    radii_m: Vec<f64>,
    velocities_m_s: Vec<[f32; 3]>,
    spins_rad_s: Vec<[f32; 3]>,
    /// End index of the grains of each block and then of each release.
    ends: Vec<usize>,
}

impl Grains {
    fn push(&mut self, centre_m: Vec3, radius_m: f64) {
        self.centres_m.push(centre_m);
        self.radii_m.push(radius_m);
    }

    /// Drops grains, from the index `begin` on, that overlap an earlier one from `first` on. Where the ground
    /// curves within a grain's size, a lattice along its mean slope may have space for only one of two.
    fn drop_crowded(&mut self, begin: usize, first: usize, watch: &mut Watch<'_>) -> Result<(), SceneError> {
        let (centres_m, radii_m) = (&self.centres_m[first..], &self.radii_m[first..]);
        let max_m = radii_m.iter().copied().fold(0.0, f64::max);
        let cells = Cells::new(centres_m, 2.0 * max_m.max(f64::MIN_POSITIVE), watch)?;
        let mut is_dropped = vec![false; centres_m.len()];
        for (a, centre) in centres_m.iter().enumerate() {
            watch.tick(1)?;
            if is_dropped[a] {
                continue;
            }
            cells.visit_near(*centre, |b| {
                let b = b as usize;
                let sum_m = radii_m[a] + radii_m[b];
                let distance2 = (0..3).map(|i| (centres_m[b][i] - centre[i]).powi(2)).sum::<f64>();
                is_dropped[b] |= b > a && first + b >= begin && distance2 < sum_m * sum_m;
            });
        }
        let keep = |idx: usize| idx < begin || !is_dropped[idx - first];
        let mut idx = 0..;
        self.centres_m.retain(|_| idx.next().is_some_and(keep));
        let mut idx = 0..;
        self.radii_m.retain(|_| idx.next().is_some_and(keep));
        Ok(())
    }

    fn sampled(self, dem: &Dem) -> Sampled {
        let n = self.centres_m.len();
        Sampled {
            positions_m: self.centres_m.iter().map(|centre| centre.map(|x| x as f32)).collect(),
            velocities_m_s: self.velocities_m_s,
            phases: vec![Phase::Snow; n],
            temperatures_c: vec![0.0; n],
            masses_kg: self.radii_m.iter().map(|&radius_m| dem.grain_mass_kg(radius_m) as f32).collect(),
            volumes_m3: Vec::new(),
            radii_m: self.radii_m.iter().map(|&radius_m| radius_m as f32).collect(),
            spins_rad_s: self.spins_rad_s,
            contact_radii_m: Vec::new(),
            block_ends: self.ends,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    /// Every second grain of a chain is dropped; earlier grains and mere contacts stay.
    #[test]
    fn overlapping_grains_are_dropped_in_order() {
        let mut grains = Grains::default();
        for x in [0.0, 0.1, 1.0, 1.5, 2.0, 2.5, 5.0, 7.0] {
            grains.push([x, 0.0, 0.0], 0.5);
        }
        grains.drop_crowded(2, 2, &mut Watch::unobserved()).unwrap();
        let left: Vec<f64> = grains.centres_m.iter().map(|centre| centre[0]).collect();
        assert_eq!(left, [0.0, 0.1, 1.0, 2.0, 5.0, 7.0]);
        assert_eq!(grains.radii_m.len(), 6);
        grains.drop_crowded(6, 6, &mut Watch::unobserved()).unwrap();
        assert_eq!(grains.radii_m.len(), 6);
        // Those of an earlier release stay, and what overlaps them is dropped.
        grains.push([7.5, 0.0, 0.0], 0.5);
        grains.drop_crowded(6, 0, &mut Watch::unobserved()).unwrap();
        assert_eq!(grains.radii_m.len(), 6);
    }
}
