//! Metrics of snow and water, reduced on the device.

use super::links::Links;
use super::phase_particles::{PhaseParticles, TRANSITION_WORDS};
use super::terms::SnowParameters;
use crate::pbd::metrics::{MeasurePass, PendingMetrics};
use crate::{MotionMetrics, SolverError};
use frazil_kernels::{Operation, ReductionF32, ReductionU32};
use frazil_shaders::snow::measure_strain;
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result};

/// Metrics of snow and water.
#[derive(Clone, Debug, PartialEq)]
pub struct SnowMetrics {
    /// Metrics that all kinds of particles have, for both phases together; densities are those of water.
    pub all: MotionMetrics,
    /// Number of solid particles.
    pub n_solid: u32,
    /// Number of fluid particles.
    pub n_fluid: u32,
    /// Number of particles that have melted so far; a particle that melts again counts again.
    pub n_melted: u32,
    /// Number of particles that have frozen so far; a particle that freezes again counts again.
    pub n_frozen: u32,
    /// Sensible heat Σ m c T in J, T in °C.
    pub sensible_heat_j: f64,
    /// Part of the sensible heat from phase changes so far, because c jumps: Σ m Δc T in J.
    pub heat_jump_j: f64,
    /// Enthalpy Σ m H in J with true latent heat; 0 without.
    pub enthalpy_j: f64,
    /// Mean temperature of snow in °C; 0 without snow.
    pub solid_mean_c: f64,
    /// Mean temperature of water in °C; 0 without water.
    pub fluid_mean_c: f64,
    /// Minimum temperature in °C; NaN without particles.
    pub coldest_c: f64,
    /// Maximum temperature in °C; NaN without particles.
    pub warmest_c: f64,
    /// Number of links.
    pub n_links: u32,
    /// Root mean square of the links' strains |x_ij|/l − 1; 0 without links.
    pub strain_rms: f64,
    /// Lower corner of the snow's bounding box in m; NaN without snow.
    pub solid_lower_m: [f64; 3],
    /// Upper corner of the snow's bounding box in m; NaN without snow.
    pub solid_upper_m: [f64; 3],
}

impl SnowMetrics {
    /// Names and units of the values of [`Self::values`] that follow those of [`MotionMetrics`].
    const OWN_NAMES: &'static [(&'static str, &'static str)] = &[
        ("n_solid", "1"),
        ("n_fluid", "1"),
        ("n_melted", "1"),
        ("n_frozen", "1"),
        ("sensible_heat", "J"),
        ("heat_jump", "J"),
        ("enthalpy", "J"),
        ("solid_temperature", "°C"),
        ("fluid_temperature", "°C"),
        ("coldest", "°C"),
        ("warmest", "°C"),
        ("n_links", "1"),
        ("strain_rms", "1"),
        ("solid_lower_x", "m"),
        ("solid_lower_y", "m"),
        ("solid_lower_z", "m"),
        ("solid_upper_x", "m"),
        ("solid_upper_y", "m"),
        ("solid_upper_z", "m"),
    ];

    /// Returns the names and units of [`Self::values`].
    pub fn names() -> Vec<(&'static str, &'static str)> {
        [MotionMetrics::NAMES, Self::OWN_NAMES].concat()
    }

    /// Returns the values in the order of [`Self::names`].
    pub fn values(&self) -> Vec<f64> {
        let mut values = self.all.values();
        values.extend([self.n_solid, self.n_fluid, self.n_melted, self.n_frozen].map(f64::from));
        values.extend([self.sensible_heat_j, self.heat_jump_j, self.enthalpy_j]);
        values.extend([self.solid_mean_c, self.fluid_mean_c, self.coldest_c, self.warmest_c]);
        values.extend([f64::from(self.n_links), self.strain_rms]);
        values.extend(self.solid_lower_m);
        values.extend(self.solid_upper_m);
        values
    }
}

/// A measurement that is being read back.
#[derive(Debug)]
pub struct PendingSnowMetrics {
    solid: PendingPhase,
    fluid: PendingPhase,
    links: Pending<u32>,
    strain2: Pending<f32>,
    mass_kg: f64,
    /// Specific heat capacities of snow and water in J/(kg K).
    capacities: [f64; 2],
    has_enthalpy: bool,
}

#[derive(Debug)]
struct PendingPhase {
    motion: PendingMetrics,
    temperature_sum: Pending<f32>,
    coldest: Pending<f32>,
    warmest: Pending<f32>,
    enthalpy_sum: Pending<f32>,
    transition_counts: Pending<u32>,
}

struct PhaseValues {
    motion: MotionMetrics,
    temperature_sum: f64,
    coldest: f64,
    warmest: f64,
    enthalpy_sum: f64,
    n_left: u32,
    /// Sum of the temperatures in °C of the particles that left.
    left_sum_c: f64,
}

impl PendingPhase {
    fn wait(self) -> Result<PhaseValues> {
        let first = |pending: Pending<f32>| Ok::<_, frazil_vk::Error>(f64::from(pending.wait()?[0]));
        let transition_counts = self.transition_counts.wait()?;
        let left_fixed = (u64::from(transition_counts[2]) << 32 | u64::from(transition_counts[1])) as i64;
        let motion = self.motion.wait()?;
        // The reductions of no particles are infinite.
        let of_any = |extremum: f64| if motion.particles > 0 { extremum } else { f64::NAN };
        Ok(PhaseValues {
            temperature_sum: first(self.temperature_sum)?,
            coldest: of_any(first(self.coldest)?),
            warmest: of_any(first(self.warmest)?),
            enthalpy_sum: first(self.enthalpy_sum)?,
            n_left: transition_counts[0],
            left_sum_c: left_fixed as f64 / 65536.0,
            motion,
        })
    }
}

impl PendingSnowMetrics {
    /// Returns true if the result has arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        // All read-backs are in one submission.
        self.strain2.is_ready()
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<SnowMetrics> {
        let (solid, fluid) = (self.solid.wait()?, self.fluid.wait()?);
        let [snow_capacity, water_capacity] = self.capacities;
        // Every link is counted at both ends, and its strain is summed at both.
        let ends = f64::from(self.links.wait()?[0]);
        let strain2 = f64::from(self.strain2.wait()?[0]);
        let jump = water_capacity - snow_capacity;
        let mean = |phase: &PhaseValues| phase.temperature_sum / f64::from(phase.motion.particles).max(1.0);
        Ok(SnowMetrics {
            n_solid: solid.motion.particles,
            n_fluid: fluid.motion.particles,
            n_melted: solid.n_left,
            n_frozen: fluid.n_left,
            sensible_heat_j: self.mass_kg
                * (snow_capacity * solid.temperature_sum + water_capacity * fluid.temperature_sum),
            heat_jump_j: self.mass_kg * jump * (solid.left_sum_c - fluid.left_sum_c),
            enthalpy_j: if self.has_enthalpy {
                self.mass_kg * (solid.enthalpy_sum + fluid.enthalpy_sum)
            } else {
                0.0
            },
            solid_mean_c: mean(&solid),
            fluid_mean_c: mean(&fluid),
            // A phase without particles has NaN, which `min` and `max` ignore.
            coldest_c: solid.coldest.min(fluid.coldest),
            warmest_c: solid.warmest.max(fluid.warmest),
            n_links: (0.5 * ends) as u32,
            strain_rms: if ends > 0.0 { (strain2 / ends).sqrt() } else { 0.0 },
            solid_lower_m: solid.motion.lower_m,
            solid_upper_m: solid.motion.upper_m,
            all: together(&solid.motion, &fluid.motion),
        })
    }
}

/// Merges the metrics of both phases; densities are the fluid's. The corners of a phase without particles are
/// NaN, which `min` and `max` ignore.
fn together(solid: &MotionMetrics, fluid: &MotionMetrics) -> MotionMetrics {
    let each = |f: fn(f64, f64) -> f64, a: [f64; 3], b: [f64; 3]| std::array::from_fn(|i| f(a[i], b[i]));
    MotionMetrics {
        particles: solid.particles + fluid.particles,
        kinetic_energy_j: solid.kinetic_energy_j + fluid.kinetic_energy_j,
        potential_energy_j: solid.potential_energy_j + fluid.potential_energy_j,
        momentum_kg_m_s: each(|a, b| a + b, solid.momentum_kg_m_s, fluid.momentum_kg_m_s),
        speed_max_m_s: solid.speed_max_m_s.max(fluid.speed_max_m_s),
        density_mean_kg_m3: fluid.density_mean_kg_m3,
        density_max_kg_m3: fluid.density_max_kg_m3,
        lower_m: each(f64::min, solid.lower_m, fluid.lower_m),
        upper_m: each(f64::max, solid.upper_m, fluid.upper_m),
        n_not_finite: solid.n_not_finite + fluid.n_not_finite,
        n_outside: solid.n_outside + fluid.n_outside,
    }
}

/// Measurement kernels and their scratch buffers.
pub(super) struct SnowMeasurePass {
    motion: MeasurePass,
    sum: ReductionF32,
    minimum: ReductionF32,
    maximum: ReductionF32,
    count: ReductionU32,
    strain: Kernel<measure_strain::Interface>,
    strain2: Buffer<f32>,
    ring: ReadbackRing,
}

impl SnowMeasurePass {
    pub fn new(device: &Device, capacity: u32) -> std::result::Result<Self, SolverError> {
        Ok(Self {
            motion: MeasurePass::new(device, capacity)?,
            sum: ReductionF32::new(device, Operation::Sum, capacity)?,
            minimum: ReductionF32::new(device, Operation::Minimum, capacity)?,
            maximum: ReductionF32::new(device, Operation::Maximum, capacity)?,
            count: ReductionU32::new(device, Operation::Sum, capacity)?,
            strain: Kernel::new(device)?,
            strain2: device.buffer("strain squared", capacity as usize)?,
            ring: ReadbackRing::new(device),
        })
    }

    /// Records the measurement of a state and its read-back.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        parameters: &SnowParameters,
        solid: &PhaseParticles,
        fluid: &PhaseParticles,
        links: &Links,
    ) -> std::result::Result<PendingSnowMetrics, SolverError> {
        let heat = &parameters.snow.heat;
        let bonds = links.bonds();
        let bindings = measure_strain::Bindings {
            count: &solid.phase.count,
            position: solid.position(),
            partner: bonds.partner(),
            rest_length_m: bonds.rest_length_m(),
            degree: bonds.degree(),
            strain2: &self.strain2,
        };
        let params = measure_strain::Params { link_stride: bonds.capacity() };
        recorder.dispatch_counted(&self.strain, bindings, params);
        let count = &solid.phase.count;
        let ends = self.count.record(recorder, count, bonds.degree())?;
        let ends = self.ring.read(recorder, ends, 1)?;
        let strain2 = self.sum.record(recorder, count, &self.strain2)?;
        let strain2 = self.ring.read(recorder, strain2, 1)?;
        Ok(PendingSnowMetrics {
            solid: self.record_phase(recorder, parameters, solid)?,
            fluid: self.record_phase(recorder, parameters, fluid)?,
            links: ends,
            strain2,
            mass_kg: parameters.fluid.particle_mass_kg,
            capacities: [heat.snow_capacity_j_kg_k, heat.water_capacity_j_kg_k],
            has_enthalpy: parameters.has_enthalpy(),
        })
    }

    fn record_phase(
        &self,
        recorder: &mut Recorder,
        parameters: &SnowParameters,
        phase_particles: &PhaseParticles,
    ) -> std::result::Result<PendingPhase, SolverError> {
        let count = &phase_particles.phase.count;
        let (position, velocity) = (phase_particles.position(), phase_particles.velocity());
        let motion = self.motion.record(
            recorder,
            count,
            &parameters.fluid,
            position,
            velocity,
            &phase_particles.density,
        )?;
        let mut reduced = |reduction: &ReductionF32, column: &Buffer<f32>| {
            let result = reduction.record(recorder, count, column)?;
            Ok::<_, SolverError>(self.ring.read(recorder, result, 1)?)
        };
        Ok(PendingPhase {
            motion,
            temperature_sum: reduced(&self.sum, phase_particles.temperature.front())?,
            coldest: reduced(&self.minimum, phase_particles.temperature.front())?,
            warmest: reduced(&self.maximum, phase_particles.temperature.front())?,
            enthalpy_sum: reduced(&self.sum, phase_particles.enthalpy.front())?,
            transition_counts: self.ring.read(
                recorder,
                &phase_particles.transition_counts,
                TRANSITION_WORDS,
            )?,
        })
    }
}
