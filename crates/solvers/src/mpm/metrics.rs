//! Metrics of all snow particles.

use super::nodes::{Constants, Nodes};
use super::parameters::MpmParameters;
use super::particles::Particles;
use crate::MotionMetrics;
use crate::metrics_reduction::{MetricsRecord, MetricsReduction, PendingRecord};
use frazil_kernels::{BlockCapacity, SparseBlocks};
use frazil_shaders::mpm::measure;
use frazil_shaders::types::MpmMetrics as Raw;
use frazil_vk::{Device, Kernel, Pending, ReadbackRing, Recorder, Result};
use std::mem::offset_of;

impl MetricsRecord for Raw {
    const OFFSETS: [usize; 3] =
        [offset_of!(Raw, lower_m), offset_of!(Raw, upper_m), offset_of!(Raw, n_not_finite)];
    const NOT_FINITE: usize = offset_of!(Raw, n_not_finite);
}

/// Metrics of all snow particles. In a plane everything is per metre of depth.
#[derive(Clone, Debug, PartialEq)]
pub struct MpmMetrics {
    /// Metrics that all kinds of particles have.
    pub all: MotionMetrics,
    /// Mass in kg.
    pub mass_kg: f64,
    /// Elastic energy in J.
    pub elastic_energy_j: f64,
    /// Angular momentum about the origin in kg m²/s of the motion of particles, Σ m x × v.
    pub angular_momentum_kg_m2_s: [f64; 3],
    /// Angular momentum in kg m²/s of affine velocities, Σ m D (C − Cᵀ): an affine transfer conserves the sum
    /// of both. In a rigid rotation it is 2 D ω per mass, D = h²/3 (cubic spline) or h²/4 (quadratic), where
    /// matter has its share of the first: a body turns as if its inertia were larger by that, of order h².
    pub affine_momentum_kg_m2_s: [f64; 3],
    /// Minimum of det F_P: strongest compaction.
    pub plastic_volume_min: f64,
    /// Maximum of det F_P: strongest expansion.
    pub plastic_volume_max: f64,
    /// Number of nodes in active blocks.
    pub n_nodes: u64,
    /// Memory in bytes that nodes and lists of the blocks found need. The capacity that is allocated for them
    /// is larger, and depends on when the host reads their number.
    pub grid_bytes: u64,
}

impl MpmMetrics {
    /// Returns the names and units of [`Self::values`].
    pub fn names() -> Vec<(&'static str, &'static str)> {
        let own = [
            ("mass", "kg"),
            ("elastic_energy", "J"),
            ("angular_momentum_x", "kg m^2/s"),
            ("angular_momentum_y", "kg m^2/s"),
            ("angular_momentum_z", "kg m^2/s"),
            ("affine_momentum_x", "kg m^2/s"),
            ("affine_momentum_y", "kg m^2/s"),
            ("affine_momentum_z", "kg m^2/s"),
            ("plastic_volume_min", "1"),
            ("plastic_volume_max", "1"),
            ("n_nodes", "1"),
            ("grid_memory", "B"),
        ];
        MotionMetrics::NAMES.iter().copied().chain(own).collect()
    }

    /// Returns the values in the order of [`Self::names`].
    pub fn values(&self) -> Vec<f64> {
        let mut values = self.all.values();
        values.extend([self.mass_kg, self.elastic_energy_j]);
        values.extend(self.angular_momentum_kg_m2_s);
        values.extend(self.affine_momentum_kg_m2_s);
        values.extend([self.plastic_volume_min, self.plastic_volume_max]);
        values.extend([self.n_nodes as f64, self.grid_bytes as f64]);
        values
    }
}

/// A measurement that is being read back.
#[derive(Debug)]
pub struct PendingMpmMetrics {
    total: PendingRecord<Raw>,
    occupied: Pending<u32>,
    active: Pending<u32>,
    block_nodes: u64,
    /// Bytes that do not depend on the number of blocks, bytes per occupied and per active block.
    bytes: [u64; 3],
}

impl PendingMpmMetrics {
    /// Returns true if the result has arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        Ok(self.total.is_ready()? && self.occupied.is_ready()? && self.active.is_ready()?)
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<MpmMetrics> {
        let (raw, particles) = self.total.wait()?;
        let wide = |v: [f32; 3]| v.map(f64::from);
        let (occupied, active) = (u64::from(self.occupied.wait()?[0]), u64::from(self.active.wait()?[0]));
        let [of_table, per_occupied, per_active] = self.bytes;
        let measured = f64::from(particles.saturating_sub(raw.n_not_finite)).max(1.0);
        Ok(MpmMetrics {
            all: MotionMetrics {
                particles,
                kinetic_energy_j: raw.kinetic_j.into(),
                potential_energy_j: raw.potential_j.into(),
                momentum_kg_m_s: wide(raw.momentum_kg_m_s),
                speed_max_m_s: raw.speed_max_m_s.max(0.0).into(),
                density_mean_kg_m3: f64::from(raw.density_sum_kg_m3) / measured,
                density_max_kg_m3: raw.density_max_kg_m3.max(0.0).into(),
                lower_m: wide(raw.lower_m),
                upper_m: wide(raw.upper_m),
                n_not_finite: raw.n_not_finite,
                n_outside: raw.n_outside,
            },
            mass_kg: raw.mass_kg.into(),
            elastic_energy_j: raw.elastic_j.into(),
            angular_momentum_kg_m2_s: wide(raw.angular_momentum_kg_m2_s),
            affine_momentum_kg_m2_s: wide(raw.affine_momentum_kg_m2_s),
            plastic_volume_min: raw.plastic_volume_min.into(),
            plastic_volume_max: raw.plastic_volume_max.into(),
            n_nodes: active * self.block_nodes,
            grid_bytes: of_table + occupied * per_occupied + active * per_active,
        })
    }
}

/// Measurement kernels and their scratch buffers.
pub struct MpmMeasurePass(MetricsReduction<measure::Interface, Raw>);

impl MpmMeasurePass {
    pub fn new(device: &Device, parameters: &MpmParameters, capacity: u32) -> Result<Self> {
        let specialization = measure::Specialization {
            dimensions: parameters.dimensions,
            stencil: parameters.stencil,
            transfer: parameters.transfer_number(),
            ..Default::default()
        };
        let measure = Kernel::specialized(device, &specialization)?;
        Ok(Self(MetricsReduction::new(device, measure, capacity)?))
    }

    /// Records the measurement of a state and its read-back.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        parameters: &MpmParameters,
        constants: &Constants,
        particles: &Particles,
        blocks: &SparseBlocks,
    ) -> Result<PendingMpmMetrics> {
        let bindings = measure::Bindings {
            count: particles.count(),
            terms: &constants.terms,
            position: particles.phase.position.front(),
            velocity: particles.phase.velocity.front(),
            mass: particles.mass.front(),
            volume: particles.volume.front(),
            plastic_volume: particles.plastic_volume.front(),
            elastic: particles.elastic.front(),
            affine: particles.affine.front(),
            parts: self.0.parts(),
        };
        let block_nodes = u64::from(parameters.layout.block_nodes());
        let bytes = |occupied, active| {
            let found = BlockCapacity { occupied, active };
            Nodes::bytes(parameters, found) + blocks.bytes(found)
        };
        let fixed = bytes(0, 0);
        Ok(PendingMpmMetrics {
            total: self.0.record(recorder, ring, particles.count(), bindings, ())?,
            occupied: ring.read(recorder, &blocks.occupied_count().count, 1)?,
            active: ring.read(recorder, &blocks.active_count().count, 1)?,
            block_nodes,
            bytes: [fixed, bytes(1, 0) - fixed, bytes(0, 1) - fixed],
        })
    }
}
