//! What is measured of snow as a whole.

use super::nodes::{Constants, Nodes};
use super::parameters::MpmParameters;
use super::particles::Particles;
use crate::pbd::FluidMetrics;
use frazil_kernels::SparseBlocks;
use frazil_shaders::mpm::{measure, measure_total};
use frazil_shaders::types::MpmMetrics as Raw;
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};

/// Measures of all snow. In a plane everything is per metre of depth.
#[derive(Clone, Debug, PartialEq)]
pub struct MpmMetrics {
    /// What is measured of any particles.
    pub all: FluidMetrics,
    /// Mass in kg.
    pub mass_kg: f64,
    /// Energy of elastic strain in J.
    pub elastic_energy_j: f64,
    /// Angular momentum about the origin in kg m²/s, that of affine velocities included.
    pub angular_momentum_kg_m2_s: [f64; 3],
    /// Least det F_P: how far snow was packed.
    pub plastic_volume_min: f64,
    /// Largest det F_P: how far it was pulled apart.
    pub plastic_volume_max: f64,
    /// Nodes of the blocks that particles reach.
    pub n_nodes: u64,
    /// Memory for nodes and lists of blocks, in bytes: it follows the blocks that particles reach, but as late as the host sees them,
    /// so that it may differ from run to run.
    pub grid_bytes: u64,
}

impl MpmMetrics {
    /// Names and units of [`Self::values`].
    pub fn names() -> Vec<(&'static str, &'static str)> {
        let own = [
            ("mass", "kg"),
            ("elastic_energy", "J"),
            ("angular_momentum_x", "kg m^2/s"),
            ("angular_momentum_y", "kg m^2/s"),
            ("angular_momentum_z", "kg m^2/s"),
            ("plastic_volume_min", "1"),
            ("plastic_volume_max", "1"),
            ("n_nodes", "1"),
            ("grid_memory", "B"),
        ];
        FluidMetrics::NAMES.iter().copied().chain(own).collect()
    }

    /// The numbers in the order of [`Self::names`].
    pub fn values(&self) -> Vec<f64> {
        let mut values = self.all.values();
        values.extend([self.mass_kg, self.elastic_energy_j]);
        values.extend(self.angular_momentum_kg_m2_s);
        values.extend([self.plastic_volume_min, self.plastic_volume_max]);
        values.extend([self.n_nodes as f64, self.grid_bytes as f64]);
        values
    }
}

/// A measurement on its way to the host.
#[derive(Debug)]
pub struct PendingMpmMetrics {
    total: Pending<Raw>,
    count: Pending<u32>,
    active: Pending<u32>,
    block_nodes: u64,
    grid_bytes: u64,
}

impl PendingMpmMetrics {
    /// Whether it is here.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        Ok(self.total.is_ready()? && self.count.is_ready()? && self.active.is_ready()?)
    }

    /// Waits for it.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<MpmMetrics> {
        let (raw, particles) = (self.total.wait()?[0], self.count.wait()?[0]);
        let wide = |v: [f32; 3]| v.map(f64::from);
        let measured = f64::from(particles.saturating_sub(raw.n_not_finite)).max(1.0);
        Ok(MpmMetrics {
            all: FluidMetrics {
                particles,
                kinetic_energy_j: raw.kinetic_j.into(),
                potential_energy_j: raw.potential_j.into(),
                momentum_kg_m_s: wide(raw.momentum_kg_m_s),
                speed_max_m_s: raw.speed_max_m_s.into(),
                density_mean_kg_m3: f64::from(raw.density_sum_kg_m3) / measured,
                density_max_kg_m3: raw.density_max_kg_m3.into(),
                lower_m: wide(raw.lower_m),
                upper_m: wide(raw.upper_m),
                n_not_finite: raw.n_not_finite,
                n_outside: raw.n_outside,
                bodies: Vec::new(),
            },
            mass_kg: raw.mass_kg.into(),
            elastic_energy_j: raw.elastic_j.into(),
            angular_momentum_kg_m2_s: wide(raw.angular_momentum_kg_m2_s),
            plastic_volume_min: raw.plastic_volume_min.into(),
            plastic_volume_max: raw.plastic_volume_max.into(),
            n_nodes: u64::from(self.active.wait()?[0]) * self.block_nodes,
            grid_bytes: self.grid_bytes,
        })
    }
}

/// The kernels that measure, and their scratch.
pub struct MpmGauge {
    measure: Kernel<measure::Interface>,
    measure_total: Kernel<measure_total::Interface>,
    parts: Buffer<Raw>,
    total: Buffer<Raw>,
}

impl MpmGauge {
    pub fn new(device: &Device, parameters: &MpmParameters, capacity: u32) -> Result<Self> {
        let specialization = measure::Specialization {
            dimensions: parameters.dimensions,
            stencil: parameters.stencil,
            transfer: parameters.transfer_number(),
            ..Default::default()
        };
        let measure = Kernel::specialized(device, &specialization)?;
        Ok(Self {
            parts: device.buffer("metrics parts", capacity.div_ceil(measure.tile()).max(1) as usize)?,
            total: device.buffer("metrics", 1)?,
            measure_total: Kernel::new(device)?,
            measure,
        })
    }

    /// Records the measurement of a state and its way to the host.
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
            count: &particles.count().count,
            terms: &constants.terms,
            position: particles.phase.position.front(),
            velocity: particles.phase.velocity.front(),
            mass: particles.mass.front(),
            volume: particles.volume.front(),
            plastic_volume: particles.plastic_volume.front(),
            elastic: particles.elastic.front(),
            affine: particles.affine.front(),
            parts: &self.parts,
        };
        let bytes = 4 * u64::from(9 + parameters.matrix_words());
        recorder.declare_bytes(bytes * u64::from(particles.count().expected()));
        recorder.dispatch(&self.measure, Threads::Counted(particles.count()), bindings, ());
        let bindings = measure_total::Bindings {
            count: &particles.count().count,
            parts: &self.parts,
            total: &self.total,
        };
        let params = measure_total::Params { particles_per_part: self.measure.tile() };
        recorder.dispatch(&self.measure_total, Threads::Fixed(1), bindings, params);
        let block_nodes = u64::from(parameters.layout.block_nodes());
        let room = u64::from(blocks.capacity().active);
        Ok(PendingMpmMetrics {
            total: ring.read(recorder, &self.total, 1)?,
            count: ring.read(recorder, &particles.count().count, 1)?,
            active: ring.read(recorder, &blocks.active_count().count, 1)?,
            block_nodes,
            grid_bytes: room * block_nodes * Nodes::bytes_per_node(parameters) + blocks.bytes(),
        })
    }
}
