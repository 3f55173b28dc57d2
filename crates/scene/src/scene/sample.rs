//! Samples a scene's shapes into particles.

use std::cell::Cell;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;

use crate::random::unit_interval;
use crate::shapes::blue_noise;
use crate::watch::{SamplingObserver, Watch};
use crate::{Fill, ParticleBlock, Phase, Scene, SceneError, Shape, Vec3};

/// Particles of a scene at time 0, in the order of blocks and, within a block, of its lattice or of drawing.
/// The index in these columns is the particle's id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Positions in m.
    pub positions_m: Vec<[f32; 3]>,
    /// Velocities in m/s.
    pub velocities_m_s: Vec<[f32; 3]>,
    /// Phases of the particles.
    pub phases: Vec<Phase>,
    /// Temperatures in °C.
    pub temperatures_c: Vec<f32>,
    /// Masses in kg, or in kg/m in scenes of two dimensions; in scenes of the material point method and of
    /// the discrete element method only, else empty.
    pub masses_kg: Vec<f32>,
    /// Shares of their block's volume in m³, or in m² in scenes of two dimensions; in scenes of the material
    /// point method only, else empty.
    pub volumes_m3: Vec<f32>,
    /// Radii of grains in m; in scenes of the discrete element method only, else empty.
    pub radii_m: Vec<f32>,
    /// Angular velocities of grains and of snow in rad/s, those of their block; empty in scenes of the
    /// position-based solver.
    pub spins_rad_s: Vec<[f32; 3]>,
    /// Contact radii of snow in m; in scenes of the material point method only, else empty.
    pub contact_radii_m: Vec<f32>,
    /// End index of the particles of each block and, for grains, then of each release.
    pub block_ends: Vec<usize>,
}

impl Sampled {
    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        self.positions_m.len()
    }

    /// Returns true if there are no particles, which no valid scene gives.
    pub fn is_empty(&self) -> bool {
        self.positions_m.is_empty()
    }
}

/// Tolerated overlap of particles of touching blocks, as a share of a spacing: well above the rounding of
/// positions to f32, well below any effect on the density.
const OVERLAP_TOLERANCE_SPACINGS: f64 = 1e-3;

/// Share of the work of a block that filling it is.
const FILLING_SHARE: f64 = 0.7;

thread_local! {
    static IS_RESERVING: Cell<bool> = const { Cell::new(false) };
}

/// Returns true while this thread reserves memory for particles, which reports an error if there is none: an
/// allocator that ends the process without memory must let it fail. It allocates nothing.
pub fn is_reserving() -> bool {
    IS_RESERVING.get()
}

impl Scene {
    /// Returns the particles at time 0. The same scene and seed give the same bits on every platform.
    ///
    /// Blocks may touch but not overlap, and no particle may start inside a body. Both are errors, because
    /// omitting such a particle would lose mass and keeping it would make the simulation explode.
    ///
    /// # Errors
    /// [`SceneError::Value`] for overlapping blocks and particles inside bodies,
    /// [`SceneError::OutOfMemory`]; and the errors of [`Scene::validate`], if the scene was changed since it
    /// was loaded.
    pub fn sample(&self) -> Result<Sampled, SceneError> {
        self.sample_watched(&mut Watch::unobserved())
    }

    /// Like [`Scene::sample`], with an observer that is called every 20 ms of work or so with what is done,
    /// and with the share that is done of all work; the work ends if it returns false. The particles do not
    /// depend on it.
    ///
    /// # Errors
    /// Those of [`Scene::sample`], and [`SceneError::Cancelled`].
    pub fn sample_observed<'a>(&self, observer: &'a mut SamplingObserver<'a>) -> Result<Sampled, SceneError> {
        self.sample_watched(&mut Watch::new(observer))
    }

    fn sample_watched(&self, watch: &mut Watch<'_>) -> Result<Sampled, SceneError> {
        self.validate()?;
        self.refuse_beyond_memory()?;
        self.solver_scene().map_or_else(|| Ok(Sampled::default()), |solver| solver.sample(self, watch))
    }

    /// Fills the blocks in order, as their shapes and `fill` specify, and has the solver complete the
    /// particles' columns.
    ///
    /// # Errors
    /// Like [`Scene::sample`], but the scene is not validated; and [`SceneError::Cancelled`].
    pub fn sample_blocks(&self, watch: &mut Watch<'_>) -> Result<Sampled, SceneError> {
        let mut sampled = self.reserve_columns()?;
        let n_expected = (self.particle_count_estimate() as f64).max(1.0);
        let mut n_before = 0.0;
        for (block_idx, block) in self.particles.iter().enumerate() {
            if !block.shape.is_loaded() {
                let key = format!("particles.{block_idx}.shape.{}", block.shape.name());
                return Err(SceneError::Value {
                    at: self.source.locate(&key),
                    key,
                    found: "a file that was not there when the scene was read".to_owned(),
                    expected: "an existing file".to_owned(),
                });
            }
            // Each block has its own random stream, so that a change to one block does not change the others'
            // particles.
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(block_idx as u64);
            let begin = sampled.len();
            let n_block = self.block_count_estimate(block);
            let share = |of_block: f64| (n_before + of_block * n_block) / n_expected;
            let stage = format!("particles.{block_idx}: {n_block} particles");
            watch.begin(&stage, share(FILLING_SHARE), self.filling_items(block))?;
            self.fill(block_idx, block, &mut rng, watch, &mut sampled.positions_m)?;
            watch.begin(
                &format!("{stage}: overlaps"),
                share(1.0),
                (sampled.len() - begin) as f64 * self.others(),
            )?;
            self.refuse_misplaced(block_idx, &sampled.positions_m[begin..], watch)?;
            n_before += n_block;
            let n = sampled.positions_m.len();
            let points = sampled.positions_m[begin..].iter().enumerate();
            for (i, point) in points {
                watch.tick(1)?;
                sampled.velocities_m_s.push(block.velocity_at(i, *point));
            }
            match block.shape.cloud().and_then(|cloud| cloud.temperatures_c.as_ref()) {
                Some(own) => sampled.temperatures_c.extend(own.iter().map(|temperature| *temperature as f32)),
                None => sampled.temperatures_c.resize(n, block.temperature_c as f32),
            }
            sampled.phases.resize(n, block.phase);
            self.complete_block(block, begin, &mut || unit_interval(&mut rng), watch, &mut sampled)?;
            sampled.block_ends.push(n);
        }
        Ok(sampled)
    }

    /// Returns empty columns with capacity for the expected particles, or an out-of-memory error.
    pub(crate) fn reserve_columns(&self) -> Result<Sampled, SceneError> {
        let n_expected = self.particle_count_estimate();
        let mut sampled = Sampled::default();
        let capacity = usize::try_from(n_expected).unwrap_or(usize::MAX);
        IS_RESERVING.set(true);
        let is_reserved = sampled.positions_m.try_reserve(capacity).is_ok()
            && sampled.velocities_m_s.try_reserve(capacity).is_ok()
            && sampled.phases.try_reserve(capacity).is_ok()
            && sampled.temperatures_c.try_reserve(capacity).is_ok();
        IS_RESERVING.set(false);
        if !is_reserved {
            return Err(self.out_of_memory(0.5 * n_expected as f64, "or so"));
        }
        Ok(sampled)
    }

    /// Returns the expected number of particles without sampling. It is exact for boxes and uniform filling;
    /// for lattices in curved shapes it is the volume over that of a particle, which differs by the steps of
    /// the surface. Saturates at the largest `u64`.
    pub fn particle_count_estimate(&self) -> u64 {
        let blocks = self.particles.iter().map(|block| self.block_count_estimate(block));
        let filled = self.filled_tables().into_iter().flat_map(|(_, counts)| counts);
        blocks.chain(filled).sum::<f64>() as u64
    }

    /// Returns the volume of a block's particles in m³, or their area in m²: that of its shape, or with
    /// points of a file as many times that of one particle on a lattice.
    pub(crate) fn block_volume_m3(&self, block: &ParticleBlock) -> f64 {
        match block.shape.n_points() {
            Some(n) => n as f64 * self.block_spacing_m(block).powi(self.n_dimensions() as i32),
            None => block.shape.volume_m3(),
        }
    }

    /// Returns the expected number of particles of one block, as a float because the number may be absurdly
    /// large.
    pub(crate) fn block_count_estimate(&self, block: &ParticleBlock) -> f64 {
        let d = self.block_spacing_m(block);
        if let Some(n) = block.shape.n_points() {
            return n as f64;
        }
        if let Some(n) = block.count {
            return n as f64;
        }
        let volume_count = (block.shape.volume_m3() / d.powi(self.n_dimensions() as i32)).round();
        match (block.fill, &block.shape) {
            (Fill::Lattice, crate::Shape::Box { .. } | crate::Shape::Rectangle { .. }) => {
                block.shape.lattice_extent(d).iter().product()
            }
            // The lattice of a curved shape that is wide enough for one point holds at least that point.
            (Fill::Lattice, _) if block.shape.lattice_extent(d).iter().all(|&n| n >= 1.0) => {
                volume_count.max(1.0)
            }
            (Fill::Lattice, _) => 0.0,
            (Fill::Uniform | Fill::BlueNoise, _) => volume_count,
            (Fill::Random, _) => self.random_fill_count(block),
        }
    }

    /// Returns the items of work of filling a block: lattice points, cells, random points.
    fn filling_items(&self, block: &ParticleBlock) -> f64 {
        let n = self.block_count_estimate(block);
        match block.fill_of_count() {
            _ if block.shape.n_points().is_some() => n,
            Fill::Lattice => block.shape.lattice_extent(self.block_spacing_m(block)).iter().product(),
            Fill::BlueNoise => blue_noise::effort(&block.shape, n.max(1.0)).items,
            Fill::Uniform | Fill::Random => n,
        }
    }

    /// Returns the number of things that each particle is compared with, and its velocity.
    fn others(&self) -> f64 {
        (self.particles.len() + self.bodies.len()) as f64
    }

    fn fill(
        &self,
        block_idx: usize,
        block: &ParticleBlock,
        rng: &mut ChaCha8Rng,
        watch: &mut Watch<'_>,
        positions_m: &mut Vec<[f32; 3]>,
    ) -> Result<(), SceneError> {
        // Rounding to f32 may move a point past a wall that it touches.
        let min = self.domain.min_m.map(|x| x as f32);
        let max = self.domain.max_m.map(|x| x as f32);
        let mut push = |point: Vec3| {
            positions_m.push(std::array::from_fn(|i| (point[i] as f32).clamp(min[i], max[i])));
        };
        if let Shape::Points { scale, offset_m, points, .. } = &block.shape {
            let cloud = points.get().map(|cloud| cloud.positions.as_slice()).unwrap_or_default();
            for point in cloud {
                watch.tick(1)?;
                push(std::array::from_fn(|i| offset_m[i] + scale * point[i]));
            }
            return Ok(());
        }
        match block.fill_of_count() {
            Fill::Lattice => {
                let spacing_m = self.block_spacing_m(block);
                let amplitude_m = block.jitter_spacings * spacing_m;
                block.shape.visit_lattice(spacing_m, watch, |point| {
                    push(if amplitude_m > 0.0 { block.jittered(point, amplitude_m, rng) } else { point });
                })
            }
            Fill::BlueNoise => {
                let n = self.block_count_estimate(block) as usize;
                let points = blue_noise::points(&block.shape, n, rng, watch)?;
                points.ok_or_else(|| self.too_thin(block_idx))?.into_iter().for_each(push);
                Ok(())
            }
            // Random packings of grains are sampled by the solver.
            Fill::Uniform | Fill::Random => {
                for _ in 0..self.block_count_estimate(block) as u64 {
                    watch.tick(1)?;
                    push(block.shape.random_point(rng).ok_or_else(|| self.too_thin(block_idx))?);
                }
                Ok(())
            }
        }
    }

    /// Returns the error about a shape in which no random point lies.
    pub(crate) fn too_thin(&self, block_idx: usize) -> SceneError {
        let name = self.particles.get(block_idx).map_or("", |block| block.shape.name());
        self.value_error(
            &format!("particles.{block_idx}.shape.{name}"),
            "a shape so thin that no random point lies in it",
            "a thicker shape, or fill = \"lattice\"",
        )
    }

    /// Refuses points of a block that lie inside another block or on the wrong side of a body.
    fn refuse_misplaced(
        &self,
        block_idx: usize,
        positions_m: &[[f32; 3]],
        watch: &mut Watch<'_>,
    ) -> Result<(), SceneError> {
        let tolerance_m = OVERLAP_TOLERANCE_SPACINGS * self.particle_spacing_m();
        let mut count = |misplaced: &dyn Fn(Vec3) -> bool| {
            let mut n = 0;
            for point in positions_m {
                watch.tick(1)?;
                n += usize::from(misplaced(point.map(f64::from)));
            }
            Ok::<usize, SceneError>(n)
        };
        let refuse = |n: usize, other: &str, place: &str, expected: &str| {
            let key = format!("particles.{block_idx}.shape");
            SceneError::Value {
                at: self.source.locate_between(&[&key, other]),
                key,
                found: format!("{n} of {} particles {place}", positions_m.len()),
                expected: expected.to_owned(),
            }
        };
        for (other_idx, other) in self.particles.iter().enumerate().filter(|(idx, _)| *idx != block_idx) {
            let n = count(&|point| other.shape.contains(point, tolerance_m))?;
            if n > 0 {
                let key = format!("particles.{other_idx}.shape");
                return Err(refuse(n, &key, &format!("inside {key}"), "blocks that do not overlap"));
            }
        }
        for (body_idx, body) in self.bodies.iter().enumerate() {
            let n = count(&|point| self.body_depth_m(body, point) > tolerance_m)?;
            if n > 0 {
                let key = format!("bodies.{body_idx}");
                let (place, expected) = body.misplaced(&key, "particles");
                return Err(refuse(n, &key, &place, &(expected + &self.scale_hint_of_body(body))));
            }
        }
        for (idx, stream) in self.streams().iter().enumerate() {
            let n = count(&|point| stream.holds(point, self.particle_spacing_m()))?;
            if n > 0 {
                let key = format!("emitters.{idx}");
                return Err(refuse(n, &key, &format!("in the pipe of {key}"), "particles outside of it"));
            }
        }
        Ok(())
    }
}

impl ParticleBlock {
    /// Returns the sampling method: a prescribed number of particles fits no lattice.
    pub(crate) fn fill_of_count(&self) -> Fill {
        match (self.count, self.fill) {
            (Some(_), Fill::Lattice) => Fill::BlueNoise,
            (_, fill) => fill,
        }
    }

    /// Returns the velocity in m/s of the block's particle `i` at `point_m`: that of its file, or else of the
    /// block, and the block's rotation and gradient about the centre of its bounds.
    pub(crate) fn velocity_at(&self, i: usize, point_m: [f32; 3]) -> [f32; 3] {
        let own = self.shape.cloud().and_then(|cloud| cloud.velocities_m_s.as_ref()?.get(i).copied());
        let start_m_s = own.unwrap_or(self.velocity_m_s);
        if self.angular_velocity_rad_s.is_none() && self.velocity_gradient_per_s.is_none() {
            return start_m_s.map(|v| v as f32);
        }
        let (w, gradient) = (
            self.angular_velocity_rad_s.unwrap_or_default(),
            self.velocity_gradient_per_s.unwrap_or_default(),
        );
        let (min, max) = self.shape.bounds_m();
        let arm: Vec3 = std::array::from_fn(|i| f64::from(point_m[i]) - 0.5 * (min[i] + max[i]));
        std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let rotation = w[j] * arm[k] - w[k] * arm[j];
            let deformation: f64 = (0..3).map(|axis| gradient[i][axis] * arm[axis]).sum();
            (start_m_s[i] + rotation + deformation) as f32
        })
    }

    /// Returns `point` displaced by up to `amplitude_m` along each axis; a displacement that would leave the
    /// shape is reversed or, if that fails, omitted.
    pub(crate) fn jittered(&self, point: Vec3, amplitude_m: f64, rng: &mut ChaCha8Rng) -> Vec3 {
        let offset: Vec3 = std::array::from_fn(|_| (2.0 * unit_interval(rng) - 1.0) * amplitude_m);
        let moved: Vec3 = std::array::from_fn(|i| point[i] + offset[i]);
        let mirrored: Vec3 = std::array::from_fn(|i| point[i] - offset[i]);
        [moved, mirrored].into_iter().find(|&candidate| self.shape.contains(candidate, 0.0)).unwrap_or(point)
    }
}
