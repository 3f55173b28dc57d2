//! What is measured of all grains.

use super::parameters::MAX_CONTACTS;
use super::particles::Particles;
use crate::pbd::FluidMetrics;
use frazil_shaders::dem::{measure, measure_total};
use frazil_shaders::types::{DemMetrics as Raw, DemTerms};
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};

/// Measures of all grains.
#[derive(Clone, Debug, PartialEq)]
pub struct DemMetrics {
    /// What is measured of any particles; the density is that of a grain, everywhere.
    pub all: FluidMetrics,
    /// Mass in kg.
    pub mass_kg: f64,
    /// Energy of spin in J.
    pub rotational_energy_j: f64,
    /// Angular momentum about the origin in kg m²/s, that of spin included.
    pub angular_momentum_kg_m2_s: [f64; 3],
    /// Where the centre of mass is, in m.
    pub centre_m: [f64; 3],
    /// Contacts of grains with grains and with surfaces; one between grains counts at both its ends.
    pub n_contacts: u32,
    /// Bonds, each counted at both its ends.
    pub n_bonds: u32,
}

impl DemMetrics {
    /// Names and units of [`Self::values`].
    pub fn names() -> Vec<(&'static str, &'static str)> {
        let own = [
            ("mass", "kg"),
            ("rotational_energy", "J"),
            ("angular_momentum_x", "kg m^2/s"),
            ("angular_momentum_y", "kg m^2/s"),
            ("angular_momentum_z", "kg m^2/s"),
            ("centre_x", "m"),
            ("centre_y", "m"),
            ("centre_z", "m"),
            ("contacts_per_grain", "1"),
            ("bonds_per_grain", "1"),
        ];
        FluidMetrics::NAMES.iter().copied().chain(own).collect()
    }

    /// The numbers in the order of [`Self::names`].
    pub fn values(&self) -> Vec<f64> {
        let mut values = self.all.values();
        values.extend([self.mass_kg, self.rotational_energy_j]);
        values.extend(self.angular_momentum_kg_m2_s);
        values.extend(self.centre_m);
        let n = f64::from(self.all.particles).max(1.0);
        values.extend([f64::from(self.n_contacts) / n, f64::from(self.n_bonds) / n]);
        values
    }
}

/// A measurement on its way to the host.
#[derive(Debug)]
pub struct PendingDemMetrics {
    total: Pending<Raw>,
    count: Pending<u32>,
    density_kg_m3: f64,
}

impl PendingDemMetrics {
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
    pub fn wait(self) -> Result<DemMetrics> {
        let (raw, particles) = (self.total.wait()?[0], self.count.wait()?[0]);
        let wide = |v: [f32; 3]| v.map(f64::from);
        let mass_kg = f64::from(raw.mass_kg);
        Ok(DemMetrics {
            all: FluidMetrics {
                particles,
                kinetic_energy_j: raw.kinetic_j.into(),
                potential_energy_j: raw.potential_j.into(),
                momentum_kg_m_s: wide(raw.momentum_kg_m_s),
                speed_max_m_s: raw.speed_max_m_s.into(),
                density_mean_kg_m3: self.density_kg_m3,
                density_max_kg_m3: self.density_kg_m3,
                lower_m: wide(raw.lower_m),
                upper_m: wide(raw.upper_m),
                n_not_finite: raw.n_not_finite,
                n_outside: raw.n_outside,
            },
            mass_kg,
            rotational_energy_j: raw.rotational_j.into(),
            angular_momentum_kg_m2_s: wide(raw.angular_momentum_kg_m2_s),
            centre_m: wide(raw.moment_kg_m).map(|x| if mass_kg > 0.0 { x / mass_kg } else { 0.0 }),
            n_contacts: raw.n_contacts,
            n_bonds: raw.n_bonds,
        })
    }
}

/// The kernels that measure, and their scratch.
pub struct DemGauge {
    measure: Kernel<measure::Interface>,
    measure_total: Kernel<measure_total::Interface>,
    parts: Buffer<Raw>,
    total: Buffer<Raw>,
}

impl DemGauge {
    pub fn new(device: &Device, capacity: u32) -> Result<Self> {
        let specialization = measure::Specialization { max_contacts: MAX_CONTACTS, ..Default::default() };
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
        terms: &Buffer<DemTerms>,
        density_kg_m3: f64,
        particles: &Particles,
    ) -> Result<PendingDemMetrics> {
        let bindings = measure::Bindings {
            count: &particles.count().count,
            terms,
            position: particles.phase.position.front(),
            velocity: particles.phase.velocity.front(),
            spin: particles.spin.front(),
            radius: particles.radius.front(),
            contact_count: particles.contacts.count.front(),
            shear: &particles.contacts.shear.front().cast(),
            parts: &self.parts,
        };
        recorder.declare_bytes(64 * u64::from(particles.count().expected()));
        recorder.dispatch(&self.measure, Threads::Counted(particles.count()), bindings, ());
        let bindings = measure_total::Bindings {
            count: &particles.count().count,
            parts: &self.parts,
            total: &self.total,
        };
        let params = measure_total::Params { grains_per_part: self.measure.tile() };
        recorder.dispatch(&self.measure_total, Threads::Fixed(1), bindings, params);
        Ok(PendingDemMetrics {
            total: ring.read(recorder, &self.total, 1)?,
            count: ring.read(recorder, &particles.count().count, 1)?,
            density_kg_m3,
        })
    }
}
