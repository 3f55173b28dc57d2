//! Metrics of a fluid, reduced on the device: energies, momentum, densities, extents, and counts of invalid
//! particles.

use super::parameters::Parameters;
use crate::metrics::MotionMetrics;
use crate::metrics_reduction::{MetricsRecord, MetricsReduction, PendingRecord};
use frazil_shaders::pbd::measure;
use frazil_shaders::types::FluidMetrics as Raw;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, ReadbackRing, Recorder, Result};
use std::mem::offset_of;

impl MetricsRecord for Raw {
    const OFFSETS: [usize; 3] =
        [offset_of!(Raw, lower_m), offset_of!(Raw, upper_m), offset_of!(Raw, n_not_finite)];
    const NOT_FINITE: usize = offset_of!(Raw, n_not_finite);
}

/// Converts sums per kilogram into those of particles of one mass in kg.
fn from_raw(raw: &Raw, particles: u32, mass: f64) -> MotionMetrics {
    let wide = |v: [f32; 3]| v.map(f64::from);
    let measured = f64::from(particles.saturating_sub(raw.n_not_finite)).max(1.0);
    MotionMetrics {
        particles,
        kinetic_energy_j: mass * f64::from(raw.kinetic_j_kg),
        potential_energy_j: mass * f64::from(raw.potential_j_kg),
        momentum_kg_m_s: wide(raw.velocity_sum_m_s).map(|v| mass * v),
        speed_max_m_s: raw.speed_max_m_s.max(0.0).into(),
        density_mean_kg_m3: f64::from(raw.density_sum_kg_m3) / measured,
        density_max_kg_m3: raw.density_max_kg_m3.max(0.0).into(),
        lower_m: wide(raw.lower_m),
        upper_m: wide(raw.upper_m),
        n_not_finite: raw.n_not_finite,
        n_outside: raw.n_outside,
    }
}

/// A measurement that is being read back.
#[derive(Debug)]
pub struct PendingMetrics {
    total: PendingRecord<Raw>,
    particle_mass_kg: f64,
}

impl PendingMetrics {
    /// Returns true if the result has arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        self.total.is_ready()
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<MotionMetrics> {
        let (total, count) = self.total.wait()?;
        Ok(from_raw(&total, count, self.particle_mass_kg))
    }
}

/// Measurement kernels and their scratch buffers.
pub(super) struct MeasurePass {
    reduction: MetricsReduction<measure::Interface, Raw>,
    ring: ReadbackRing,
}

impl MeasurePass {
    pub fn new(device: &Device, capacity: u32) -> Result<Self> {
        let reduction = MetricsReduction::new(device, Kernel::new(device)?, capacity)?;
        Ok(Self { reduction, ring: ReadbackRing::new(device) })
    }

    /// Records the measurement of a state and its read-back.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        parameters: &Parameters,
        position: &Buffer<[f32; 3]>,
        velocity: &Buffer<[f32; 3]>,
        density: &Buffer<f32>,
    ) -> Result<PendingMetrics> {
        let walls = &parameters.walls;
        let parts = self.reduction.parts();
        let bindings = measure::Bindings { count, position, velocity, density, parts };
        let params = measure::Params {
            domain_min_m: walls.domain_min_m,
            domain_max_m: walls.domain_max_m,
            gravity_m_s2: parameters.gravity_m_s2,
        };
        Ok(PendingMetrics {
            total: self.reduction.record(recorder, &self.ring, count, bindings, params)?,
            particle_mass_kg: parameters.particle_mass_kg,
        })
    }
}
