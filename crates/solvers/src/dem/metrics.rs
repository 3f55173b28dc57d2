//! Metrics of all grains.

use super::contacts::Contacts;
use super::parameters::DemParameters;
use super::particles::Particles;
use super::slabs::Slabs;
use crate::metrics_reduction::{MetricsRecord, MetricsReduction, PendingRecord};
use crate::{BodyLoad, MotionMetrics, PendingLoads};
use frazil_shaders::dem::measure;
use frazil_shaders::types::{DemMetrics as Raw, DemTerms, PieceMotion};
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result};
use glam::DVec3;
use std::mem::offset_of;

impl MetricsRecord for Raw {
    const OFFSETS: [usize; 3] =
        [offset_of!(Raw, lower_m), offset_of!(Raw, upper_m), offset_of!(Raw, n_contacts)];
    const NOT_FINITE: usize = offset_of!(Raw, n_not_finite);
}

/// Metrics of all grains.
#[derive(Clone, Debug, PartialEq)]
pub struct DemMetrics {
    /// Metrics that all kinds of particles have; the density is that of a grain, everywhere.
    pub all: MotionMetrics,
    /// Mass in kg.
    pub mass_kg: f64,
    /// Rotational energy in J.
    pub rotational_energy_j: f64,
    /// Angular momentum about the origin in kg m²/s, including spin.
    pub angular_momentum_kg_m2_s: [f64; 3],
    /// Centre of mass in m.
    pub centre_m: [f64; 3],
    /// Number of contacts with grains and surfaces; a contact between two grains counts at both ends.
    pub n_contacts: u32,
    /// Number of bonds, each counted at both ends.
    pub n_bonds: u32,
    /// Metrics of slab pieces, if there are any.
    pub slabs: Option<SlabMetrics>,
    /// Loads on the named bodies, in the order of the scene, including the momentum of grains that are pushed
    /// back out of them.
    pub loads: Vec<BodyLoad>,
}

/// Metrics of all slab pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct SlabMetrics {
    /// Translational and rotational energy in J.
    pub kinetic_energy_j: f64,
    /// Momentum in kg m/s.
    pub momentum_kg_m_s: [f64; 3],
    /// Speed of the fastest piece in m/s.
    pub speed_max_m_s: f64,
    /// Centre of mass of all pieces in m.
    pub centre_m: [f64; 3],
    /// Number of unbroken links.
    pub n_links: u32,
}

impl DemMetrics {
    /// Returns the names and units of [`Self::values`] of a solver with these parameters.
    pub fn names(parameters: &DemParameters) -> Vec<(String, &'static str)> {
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
        let of_slabs = [
            ("slab_kinetic_energy", "J"),
            ("slab_momentum_x", "kg m/s"),
            ("slab_momentum_y", "kg m/s"),
            ("slab_momentum_z", "kg m/s"),
            ("slab_speed_max", "m/s"),
            ("slab_centre_x", "m"),
            ("slab_centre_y", "m"),
            ("slab_centre_z", "m"),
            ("slab_links", "1"),
        ];
        let of_slabs = of_slabs.into_iter().filter(|_| !parameters.pieces.shapes.is_empty());
        let owned = |(name, unit): (&str, &'static str)| (name.to_owned(), unit);
        let mut names: Vec<_> =
            MotionMetrics::NAMES.iter().copied().chain(own).chain(of_slabs).map(owned).collect();
        names.extend(BodyLoad::names(&parameters.surroundings.names));
        names
    }

    /// Returns the values in the order of [`Self::names`].
    pub fn values(&self) -> Vec<f64> {
        let mut values = self.all.values();
        values.extend([self.mass_kg, self.rotational_energy_j]);
        values.extend(self.angular_momentum_kg_m2_s);
        values.extend(self.centre_m);
        let n = f64::from(self.all.particles).max(1.0);
        values.extend([f64::from(self.n_contacts) / n, f64::from(self.n_bonds) / n]);
        if let Some(slabs) = &self.slabs {
            values.push(slabs.kinetic_energy_j);
            values.extend(slabs.momentum_kg_m_s);
            values.push(slabs.speed_max_m_s);
            values.extend(slabs.centre_m);
            values.push(slabs.n_links.into());
        }
        values.extend(self.loads.iter().flat_map(BodyLoad::values));
        values
    }
}

/// A measurement that is being read back.
#[derive(Debug)]
pub struct PendingDemMetrics {
    total: PendingRecord<Raw>,
    density_kg_m3: f64,
    slabs: PendingSlabs,
}

/// Metrics of slab pieces that are being read back; pieces are few, so the host reduces them.
#[derive(Debug)]
struct PendingSlabs {
    masses_kg: Vec<f64>,
    motions: Option<Pending<PieceMotion>>,
    link_is_whole: Option<Pending<u32>>,
    loads: Option<PendingLoads>,
}

impl PendingSlabs {
    fn read(
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        parameters: &DemParameters,
        slabs: &Slabs,
    ) -> Result<Self> {
        let pieces = &parameters.pieces;
        let [n_pieces, n_links] = [pieces.shapes.len(), pieces.links.len()];
        let has_loads = !slabs.loads.names().is_empty();
        Ok(Self {
            masses_kg: pieces.shapes.iter().map(|shape| shape.mass_kg.into()).collect(),
            motions: some(n_pieces, |n| ring.read(recorder, &slabs.motions, n))?,
            link_is_whole: some(n_links, |n| ring.read(recorder, slabs.link_is_whole(), n))?,
            loads: has_loads.then(|| slabs.loads.record(recorder)).transpose()?,
        })
    }

    fn wait(self) -> Result<(Option<SlabMetrics>, Vec<BodyLoad>)> {
        let Self { masses_kg, motions, link_is_whole, loads } = self;
        let whole = link_is_whole.map(Pending::wait).transpose()?.unwrap_or_default();
        let n_links = whole.iter().filter(|whole| **whole != 0).count() as u32;
        let motions = motions.map(Pending::wait).transpose()?;
        let slabs = motions.map(|motions| measure_pieces(&masses_kg, &motions, n_links));
        Ok((slabs, loads.map(PendingLoads::wait).transpose()?.unwrap_or_default()))
    }
}

/// Reads back nothing if there are no elements.
fn some<T>(n: usize, read: impl FnOnce(usize) -> Result<T>) -> Result<Option<T>> {
    if n == 0 { Ok(None) } else { read(n).map(Some) }
}

fn measure_pieces(masses_kg: &[f64], motions: &[PieceMotion], n_links: u32) -> SlabMetrics {
    let wide = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
    let mut metrics = SlabMetrics {
        kinetic_energy_j: 0.0,
        momentum_kg_m_s: [0.0; 3],
        speed_max_m_s: 0.0,
        centre_m: [0.0; 3],
        n_links,
    };
    let (mut momentum, mut moment) = (DVec3::ZERO, DVec3::ZERO);
    for (mass, motion) in masses_kg.iter().zip(motions) {
        let velocity = wide(motion.velocity_m_s);
        let whirl = wide(motion.angular_momentum_kg_m2_s).dot(wide(motion.spin_1_s));
        metrics.kinetic_energy_j += 0.5 * mass * velocity.length_squared() + 0.5 * whirl;
        metrics.speed_max_m_s = metrics.speed_max_m_s.max(velocity.length());
        momentum += *mass * velocity;
        moment += *mass * wide(motion.centre_m);
    }
    let mass: f64 = masses_kg.iter().sum();
    metrics.momentum_kg_m_s = momentum.to_array();
    metrics.centre_m = (moment / mass).to_array();
    metrics
}

impl PendingDemMetrics {
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
    pub fn wait(self) -> Result<DemMetrics> {
        let (raw, particles) = self.total.wait()?;
        let (slabs, loads) = self.slabs.wait()?;
        let wide = |v: [f32; 3]| v.map(f64::from);
        let mass_kg = f64::from(raw.mass_kg);
        Ok(DemMetrics {
            all: MotionMetrics {
                particles,
                kinetic_energy_j: raw.kinetic_j.into(),
                potential_energy_j: raw.potential_j.into(),
                momentum_kg_m_s: wide(raw.momentum_kg_m_s),
                speed_max_m_s: raw.speed_max_m_s.max(0.0).into(),
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
            slabs,
            loads,
        })
    }
}

/// Measurement kernels and their scratch buffers.
pub struct DemMeasurePass(MetricsReduction<measure::Interface, Raw>);

impl DemMeasurePass {
    pub fn new(device: &Device, parameters: &DemParameters, capacity: u32) -> Result<Self> {
        let has_rolling = parameters.has_rolling().into();
        let specialization = measure::Specialization { has_rolling, ..Default::default() };
        Ok(Self(MetricsReduction::new(device, Kernel::specialized(device, &specialization)?, capacity)?))
    }

    /// Records the measurement of a state and its read-back.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        terms: &Buffer<DemTerms>,
        parameters: &DemParameters,
        (particles, contacts): (&Particles, &Contacts),
        slabs: &Slabs,
    ) -> Result<PendingDemMetrics> {
        let bindings = measure::Bindings {
            count: &particles.count,
            terms,
            position: &particles.position,
            velocity: &particles.velocity,
            spin: &particles.spin,
            radius: &particles.radius,
            first_row: &contacts.first_row,
            contact: &contacts.contact,
            parts: self.0.parts(),
        };
        recorder.declare_bytes(64 * u64::from(particles.count.expected()));
        Ok(PendingDemMetrics {
            total: self.0.record(recorder, ring, &particles.count, bindings, ())?,
            density_kg_m3: parameters.terms.density_kg_m3.into(),
            slabs: PendingSlabs::read(recorder, ring, parameters, slabs)?,
        })
    }
}
