//! Filling a scene's shapes with particles.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use crate::{Collider, Fill, ParticleBlock, Phase, Scene, SceneError, Side, Vec3};

/// The particles of a scene at time 0: block after block, within a block in the order of its lattice or of drawing. The
/// place in these columns is the particle's id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Positions in m.
    pub positions_m: Vec<[f32; 3]>,
    /// Velocities in m/s.
    pub velocities_m_s: Vec<[f32; 3]>,
    /// What they are made of.
    pub phases: Vec<Phase>,
    /// Temperatures in °C.
    pub temperatures_c: Vec<f32>,
}

impl Sampled {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.positions_m.len()
    }

    /// Whether there are no particles, which no valid scene gives.
    pub fn is_empty(&self) -> bool {
        self.positions_m.is_empty()
    }
}

/// Particles of touching blocks may be this share of a spacing inside one another before the blocks count as overlapping:
/// well above the rounding of positions to f32, well below anything the density would notice.
const OVERLAP_TOLERANCE_SPACINGS: f64 = 1e-3;

impl Scene {
    /// The particles at time 0. The same scene and seed give the same bits on every platform.
    ///
    /// Blocks may touch but not overlap, and no particle may start inside a collider: both are refused, because a
    /// particle silently left out would be missing mass and one left in would explode.
    ///
    /// # Errors
    /// [`SceneError::Value`] for overlapping blocks and particles inside colliders, [`SceneError::OutOfMemory`]; and
    /// what [`Scene::validate`] finds, should the scene have been changed since it was loaded.
    pub fn sample(&self) -> Result<Sampled, SceneError> {
        self.validate()?;
        let n_expected = self.particle_count_estimate();
        let mut sampled = Sampled::default();
        let capacity = usize::try_from(n_expected).unwrap_or(usize::MAX);
        if sampled.positions_m.try_reserve(capacity).is_err()
            || sampled.velocities_m_s.try_reserve(capacity).is_err()
            || sampled.phases.try_reserve(capacity).is_err()
            || sampled.temperatures_c.try_reserve(capacity).is_err()
        {
            return Err(SceneError::OutOfMemory { at: self.source.whole(), n_particles: n_expected });
        }
        for (block_idx, block) in self.particles.iter().enumerate() {
            let begin = sampled.len();
            self.fill(block_idx, block, &mut sampled.positions_m);
            self.refuse_misplaced(block_idx, &sampled.positions_m[begin..])?;
            let velocity = block.velocity_m_s.map(|v| v as f32);
            let n = sampled.positions_m.len();
            sampled.velocities_m_s.resize(n, velocity);
            sampled.phases.resize(n, block.phase);
            sampled.temperatures_c.resize(n, block.temperature_c as f32);
        }
        Ok(sampled)
    }

    /// Particles the scene has, before sampling it: exact for boxes and uniform filling; for lattices in curved shapes the
    /// volume's worth, which differs by the steps of the surface. Saturates at the largest `u64`.
    pub fn particle_count_estimate(&self) -> u64 {
        self.particles.iter().map(|block| self.block_count_estimate(block)).sum::<f64>() as u64
    }

    /// As above for one block, as a float because the number may be absurd.
    pub(crate) fn block_count_estimate(&self, block: &ParticleBlock) -> f64 {
        let d = self.fluid.particle_spacing_m;
        let volume_count = (block.shape.volume_m3() / (d * d * d)).round();
        match (block.fill, &block.shape) {
            (Fill::Lattice, crate::Shape::Box { .. }) => block.shape.lattice_extent(d).iter().product(),
            // The lattice of a curved shape that is wide enough for one point holds at least that point.
            (Fill::Lattice, _) if block.shape.lattice_extent(d).iter().all(|&n| n >= 1.0) => {
                volume_count.max(1.0)
            }
            (Fill::Lattice, _) => 0.0,
            (Fill::Uniform, _) => volume_count,
        }
    }

    fn fill(&self, block_idx: usize, block: &ParticleBlock, positions_m: &mut Vec<[f32; 3]>) {
        // A stream a block, so that a change to one block leaves the others' particles where they were.
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(block_idx as u64);
        // Rounding to f32 may carry a point past a wall that it touches.
        let min = self.domain.min_m.map(|x| x as f32);
        let max = self.domain.max_m.map(|x| x as f32);
        let mut push = |point: Vec3| {
            positions_m.push(std::array::from_fn(|i| (point[i] as f32).clamp(min[i], max[i])));
        };
        match block.fill {
            Fill::Lattice => {
                let amplitude_m = block.jitter_spacings * self.fluid.particle_spacing_m;
                block.shape.visit_lattice(self.fluid.particle_spacing_m, |point| {
                    push(if amplitude_m > 0.0 {
                        jittered(block, point, amplitude_m, &mut rng)
                    } else {
                        point
                    });
                });
            }
            Fill::Uniform => {
                for _ in 0..self.block_count_estimate(block) as u64 {
                    push(block.shape.random_point(&mut rng));
                }
            }
        }
    }

    /// Refuses points of a block that lie inside another block or on the wrong side of a collider.
    fn refuse_misplaced(&self, block_idx: usize, positions_m: &[[f32; 3]]) -> Result<(), SceneError> {
        let tolerance_m = OVERLAP_TOLERANCE_SPACINGS * self.fluid.particle_spacing_m;
        let count = |misplaced: &dyn Fn(Vec3) -> bool| {
            positions_m.iter().filter(|point| misplaced(point.map(f64::from))).count()
        };
        let refuse = |n: usize, other: String, expected: &str| {
            let key = format!("particles.{block_idx}.shape");
            SceneError::Value {
                at: self.source.locate_between(&[&key, &other]),
                key,
                found: format!("{n} of {} particles inside {other}", positions_m.len()),
                expected: expected.to_owned(),
            }
        };
        for (other_idx, other) in self.particles.iter().enumerate().filter(|(idx, _)| *idx != block_idx) {
            let n = count(&|point| other.shape.contains(point, tolerance_m));
            if n > 0 {
                return Err(refuse(n, format!("particles.{other_idx}.shape"), "blocks that do not overlap"));
            }
        }
        for (collider_idx, collider) in self.colliders.iter().enumerate() {
            let n = count(&|point| collider.depth_m(point) > tolerance_m);
            if n > 0 {
                return Err(refuse(
                    n,
                    format!("colliders.{collider_idx}"),
                    "particles outside solid colliders",
                ));
            }
        }
        Ok(())
    }
}

impl Collider {
    /// How deep `point_m` lies inside the solid part, in m; negative outside.
    pub fn depth_m(&self, point_m: Vec3) -> f64 {
        match self {
            Self::Plane { point_m: origin, normal } => {
                let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
                -(0..3).map(|i| (point_m[i] - origin[i]) * normal[i]).sum::<f64>() / length
            }
            Self::Sphere { centre_m, radius_m, side } => {
                let distance = (0..3).map(|i| (point_m[i] - centre_m[i]).powi(2)).sum::<f64>().sqrt();
                match side {
                    Side::Outside => radius_m - distance,
                    Side::Inside => distance - radius_m,
                }
            }
        }
    }
}

/// `point` displaced by up to `amplitude_m` along each axis, to the opposite side or not at all where that would leave the
/// shape.
fn jittered(block: &ParticleBlock, point: Vec3, amplitude_m: f64, rng: &mut ChaCha8Rng) -> Vec3 {
    let offset: Vec3 = std::array::from_fn(|_| (2.0 * unit_interval(rng) - 1.0) * amplitude_m);
    let moved: Vec3 = std::array::from_fn(|i| point[i] + offset[i]);
    let mirrored: Vec3 = std::array::from_fn(|i| point[i] - offset[i]);
    [moved, mirrored].into_iter().find(|&candidate| block.shape.contains(candidate, 0.0)).unwrap_or(point)
}

/// A number from 0 up to but not including 1, all multiples of 2⁻⁵³ equally likely.
pub(crate) fn unit_interval(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}
