//! Measuring a fluid on the device: energies, momentum, densities, extents, and particles that should not be.

use super::bodies::BodyMetrics;
use super::parameters::Parameters;
use frazil_shaders::pbd::{measure, measure_total};
use frazil_shaders::types::{BodyLoad, FluidMetrics as Raw};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Pending, Recorder, Result, Threads};

/// A measurement of the whole fluid.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidMetrics {
    /// Particles measured.
    pub particles: u32,
    /// Σ ½mv² in J.
    pub kinetic_energy_j: f64,
    /// Σ m g·(x_bottom − x) in J, zero with every particle in the corner that gravity points to.
    pub potential_energy_j: f64,
    /// Σ mv in kg m/s.
    pub momentum_kg_m_s: [f64; 3],
    /// The fastest particle in m/s.
    pub speed_max_m_s: f64,
    /// Mean density in kg/m³.
    pub density_mean_kg_m3: f64,
    /// Largest density in kg/m³.
    pub density_max_kg_m3: f64,
    /// Lower corner of the particles' bounding box in m.
    pub lower_m: [f64; 3],
    /// Upper corner of the particles' bounding box in m.
    pub upper_m: [f64; 3],
    /// Particles with a NaN or infinite position, velocity or density: none, or the run is broken.
    pub n_not_finite: u32,
    /// Particles outside the domain: none, or the run is broken.
    pub n_outside: u32,
    /// What has acted on each body, in the order of [`Parameters::body_names`]; of position-based particles only.
    pub bodies: Vec<BodyMetrics>,
}

impl FluidMetrics {
    /// Names and units of [`Self::values`].
    pub const NAMES: &'static [(&'static str, &'static str)] = &[
        ("n_particles", "1"),
        ("kinetic_energy", "J"),
        ("potential_energy", "J"),
        ("total_energy", "J"),
        ("momentum_x", "kg m/s"),
        ("momentum_y", "kg m/s"),
        ("momentum_z", "kg m/s"),
        ("speed_max", "m/s"),
        ("density_mean", "kg/m^3"),
        ("density_max", "kg/m^3"),
        ("lower_x", "m"),
        ("lower_y", "m"),
        ("lower_z", "m"),
        ("upper_x", "m"),
        ("upper_y", "m"),
        ("upper_z", "m"),
        ("n_not_finite", "1"),
        ("n_outside", "1"),
    ];

    /// Kinetic and potential energy together, in J.
    pub fn total_energy_j(&self) -> f64 {
        self.kinetic_energy_j + self.potential_energy_j
    }

    /// The numbers in the order of [`Self::NAMES`].
    pub fn values(&self) -> Vec<f64> {
        let mut values = vec![
            f64::from(self.particles),
            self.kinetic_energy_j,
            self.potential_energy_j,
            self.total_energy_j(),
        ];
        values.extend(self.momentum_kg_m_s);
        values.extend([self.speed_max_m_s, self.density_mean_kg_m3, self.density_max_kg_m3]);
        values.extend(self.lower_m);
        values.extend(self.upper_m);
        values.extend([f64::from(self.n_not_finite), f64::from(self.n_outside)]);
        values
    }

    /// What is measured on bodies, in the order of [`BodyMetrics::names`].
    pub fn body_values(&self) -> Vec<f64> {
        self.bodies.iter().flat_map(BodyMetrics::values).collect()
    }

    fn from_raw(raw: &Raw, particles: u32, mass: f64) -> Self {
        let wide = |v: [f32; 3]| v.map(f64::from);
        let measured = f64::from(particles.saturating_sub(raw.n_not_finite)).max(1.0);
        Self {
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
            bodies: Vec::new(),
        }
    }
}

/// A measurement on its way to the host.
#[derive(Debug)]
pub struct PendingMetrics {
    total: Pending<Raw>,
    count: Pending<u32>,
    bodies: Option<Pending<BodyLoad>>,
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
    pub fn wait(self) -> Result<FluidMetrics> {
        let (total, count) = (self.total.wait()?, self.count.wait()?);
        let loads = self.bodies.map(Pending::wait).transpose()?.unwrap_or_default();
        let metrics = FluidMetrics::from_raw(&total[0], count[0], self.particle_mass_kg);
        Ok(FluidMetrics { bodies: loads.iter().map(BodyMetrics::from_load).collect(), ..metrics })
    }

    /// The same, with what has acted on bodies.
    pub(in crate::pbd) fn with_bodies(self, bodies: Option<Pending<BodyLoad>>) -> Self {
        Self { bodies, ..self }
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
            bodies: None,
            particle_mass_kg: parameters.particle_mass_kg,
        })
    }
}
