//! Measuring a fluid on the device: energies, momentum, densities, extents, and particles that should not be.

use super::parameters::Parameters;
use crate::metrics::MotionMetrics;
use frazil_shaders::pbd::{measure, measure_total};
use frazil_shaders::types::FluidMetrics as Raw;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Pending, Recorder, Result, Threads};

/// Turns sums per kilogram into those of particles of one mass in kg.
fn from_raw(raw: &Raw, particles: u32, mass: f64) -> MotionMetrics {
    let wide = |v: [f32; 3]| v.map(f64::from);
    let measured = f64::from(particles.saturating_sub(raw.n_not_finite)).max(1.0);
    MotionMetrics {
        particles,
        kinetic_energy_j: mass * f64::from(raw.kinetic_j_kg),
        potential_energy_j: mass * f64::from(raw.potential_j_kg),
        momentum_kg_m_s: wide(raw.velocity_sum_m_s).map(|v| mass * v),
        speed_max_m_s: raw.speed_max_m_s.into(),
        density_mean_kg_m3: f64::from(raw.density_sum_kg_m3) / measured,
        density_max_kg_m3: raw.density_max_kg_m3.into(),
        lower_m: wide(raw.lower_m),
        upper_m: wide(raw.upper_m),
        n_not_finite: raw.n_not_finite,
        n_outside: raw.n_outside,
    }
}

/// A measurement on its way to the host.
#[derive(Debug)]
pub struct PendingMetrics {
    total: Pending<Raw>,
    count: Pending<u32>,
    particle_mass_kg: f64,
}

impl PendingMetrics {
    /// Whether it is here.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        Ok(self.total.is_ready()? && self.count.is_ready()?)
    }

    /// Waits for it.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<MotionMetrics> {
        let (total, count) = (self.total.wait()?, self.count.wait()?);
        Ok(from_raw(&total[0], count[0], self.particle_mass_kg))
    }
}

/// The kernels that measure, and their scratch.
pub(super) struct Gauge {
    measure: Kernel<measure::Interface>,
    measure_total: Kernel<measure_total::Interface>,
    parts: Buffer<Raw>,
    total: Buffer<Raw>,
    ring: frazil_vk::ReadbackRing,
}

impl Gauge {
    pub fn new(device: &Device, capacity: u32) -> Result<Self> {
        let measure = Kernel::new(device)?;
        Ok(Self {
            parts: device.buffer("metrics parts", capacity.div_ceil(measure.tile()) as usize)?,
            total: device.buffer("metrics", 1)?,
            measure_total: Kernel::new(device)?,
            ring: frazil_vk::ReadbackRing::new(device),
            measure,
        })
    }

    /// Records the measurement of a state and its way to the host.
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
        let bindings =
            measure::Bindings { count: &count.count, position, velocity, density, parts: &self.parts };
        let params = measure::Params {
            domain_min_m: walls.domain_min_m,
            domain_max_m: walls.domain_max_m,
            gravity_m_s2: parameters.gravity_m_s2,
        };
        recorder.dispatch(&self.measure, Threads::Counted(count), bindings, params);
        let bindings =
            measure_total::Bindings { count: &count.count, parts: &self.parts, total: &self.total };
        let params = measure_total::Params { particles_per_part: self.measure.tile() };
        recorder.dispatch(&self.measure_total, Threads::Fixed(1), bindings, params);
        Ok(PendingMetrics {
            total: self.ring.read(recorder, &self.total, 1)?,
            count: self.ring.read(recorder, &count.count, 1)?,
            particle_mass_kg: parameters.particle_mass_kg,
        })
    }
}
