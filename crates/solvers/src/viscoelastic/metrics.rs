//! Metrics of a viscoelastic fluid.

use super::springs::{SpringColumns, Springs};
use super::stress::Stress;
use crate::MotionMetrics;
use crate::metrics_reduction::{MetricsRecord, MetricsReduction, PendingRecord};
use frazil_particles::PhaseArray;
use frazil_shaders::types::ViscoelasticMetrics as Raw;
use frazil_shaders::viscoelastic::measure;
use frazil_vk::{Buffer, Device, Kernel, ReadbackRing, Recorder, Result};
use std::mem::offset_of;

impl MetricsRecord for Raw {
    const OFFSETS: [usize; 3] =
        [offset_of!(Raw, lower_m), offset_of!(Raw, upper_m), offset_of!(Raw, n_not_finite)];
    const NOT_FINITE: usize = offset_of!(Raw, n_not_finite);
}

/// Metrics of a viscoelastic fluid.
#[derive(Clone, Debug, PartialEq)]
pub struct ViscoelasticMetrics {
    /// Metrics that all kinds of particles have.
    pub all: MotionMetrics,
    /// Elastic energy in J.
    pub elastic_energy_j: f64,
    /// Angular momentum about the centre of the domain in kg m²/s.
    pub angular_momentum_kg_m2_s: [f64; 3],
    /// Means of σ_xx, σ_yy, σ_zz, σ_xy, σ_xz, σ_yz over particles, in Pa, without pressure.
    pub stress_pa: [f64; 6],
    /// Number of springs, 0 without.
    pub n_springs: u32,
}

impl ViscoelasticMetrics {
    /// Returns the names and units of [`Self::values`].
    pub fn names() -> Vec<(&'static str, &'static str)> {
        let own = [
            ("elastic_energy", "J"),
            ("angular_momentum_x", "kg m^2/s"),
            ("angular_momentum_y", "kg m^2/s"),
            ("angular_momentum_z", "kg m^2/s"),
            ("stress_xx", "Pa"),
            ("stress_yy", "Pa"),
            ("stress_zz", "Pa"),
            ("stress_xy", "Pa"),
            ("stress_xz", "Pa"),
            ("stress_yz", "Pa"),
        ];
        MotionMetrics::NAMES.iter().copied().chain(own).collect()
    }

    /// Returns the values in the order of [`Self::names`].
    pub fn values(&self) -> Vec<f64> {
        let mut values = self.all.values();
        values.push(self.elastic_energy_j);
        values.extend(self.angular_momentum_kg_m2_s);
        values.extend(self.stress_pa);
        values
    }

    fn from_raw(raw: &Raw, particles: u32, mass: f64) -> Self {
        let wide = |v: [f32; 3]| v.map(f64::from);
        let measured = f64::from(particles.saturating_sub(raw.n_not_finite)).max(1.0);
        let [xx, yy, zz] = wide(raw.normal_stress_sum_pa);
        let [xy, xz, yz] = wide(raw.shear_stress_sum_pa);
        Self {
            all: MotionMetrics {
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
            },
            elastic_energy_j: mass * f64::from(raw.elastic_j_kg),
            angular_momentum_kg_m2_s: wide(raw.angular_sum_m2_s).map(|l| mass * l),
            stress_pa: [xx, yy, zz, xy, xz, yz].map(|sum| sum / measured),
            // Each has two ends.
            n_springs: raw.n_spring_ends / 2,
        }
    }
}

/// A measurement that is being read back.
#[derive(Debug)]
pub struct PendingViscoelasticMetrics {
    total: PendingRecord<Raw>,
    particle_mass_kg: f64,
}

impl PendingViscoelasticMetrics {
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
    pub fn wait(self) -> Result<ViscoelasticMetrics> {
        let (total, count) = self.total.wait()?;
        Ok(ViscoelasticMetrics::from_raw(&total, count, self.particle_mass_kg))
    }
}

/// Measurement kernels and their scratch buffers.
pub(super) struct MeasurePass {
    /// Stand for springs where there are none.
    none: SpringColumns,
    reduction: MetricsReduction<measure::Interface, Raw>,
    ring: ReadbackRing,
}

impl MeasurePass {
    pub fn new(device: &Device, capacity: u32, elasticity: u32) -> Result<Self> {
        let constants = measure::Specialization { elasticity, ..Default::default() };
        let kernel = Kernel::specialized(device, &constants)?;
        let reduction = MetricsReduction::new(device, kernel, capacity)?;
        Ok(Self { none: SpringColumns::none(device)?, reduction, ring: ReadbackRing::new(device) })
    }

    /// Records the measurement of a state and its read-back.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        density: &Buffer<f32>,
        (stress, springs): (&Stress, Option<&Springs>),
        gravity_m_s2: [f32; 3],
        particle_mass_kg: f64,
    ) -> Result<PendingViscoelasticMetrics> {
        let (partner, rest_length_m, degree) = springs.map_or_else(|| self.none.rows(), Springs::rows);
        let bindings = measure::Bindings {
            count: &phase.count,
            position: phase.position.front(),
            velocity: phase.velocity.front(),
            density,
            terms: &stress.terms,
            diagonal: stress.diagonal.front(),
            off_diagonal: stress.off_diagonal.front(),
            stress: &stress.stress,
            parts: self.reduction.parts(),
            partner,
            rest_length_m,
            degree,
        };
        let params = measure::Params {
            gravity_m_s2,
            springs: springs.map_or_else(bytemuck::Zeroable::zeroed, Springs::terms),
            inverse_mass: (1.0 / particle_mass_kg) as f32,
        };
        let total = self.reduction.record(recorder, &self.ring, &phase.count, bindings, params)?;
        Ok(PendingViscoelasticMetrics { total, particle_mass_kg })
    }
}
