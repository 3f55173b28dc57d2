//! Loads on bodies: force, torque and impulse that particles exert, summed on the device in fixed point.

use super::dynamic_body::Shared;
use super::dynamics::DynamicBodies;
use super::surroundings::Surroundings;
use crate::metrics::{Measurement, MetricInfo, PendingMeasurement};
use crate::pending::{PendingResult, forwarded};
use bytemuck::Zeroable;
use frazil_particles::{ColumnKind, ParticleTable};
use frazil_shaders::common::fixed::WRENCH_WORDS;
use frazil_shaders::types::BodyLoad as RawLoad;
use frazil_vk::{Buffer, Device, DoubleBuffer, Pending, ReadbackRing, Recorder, Result};

/// Column of a saved state that holds the loads, and the words of a load.
const LOADS_COLUMN: &str = "body loads";
const LOAD_WORDS: u32 = (size_of::<RawLoad>() / 4) as u32;

/// Exponent of the quanta of momentum in a particle's mass times 1 m/s: sums of 2²⁶ particles at 1 m/s fit
/// into 63 bits.
const QUANTA_EXPONENT: f64 = 36.0;

/// Returns the number of quanta per N s in sums of the momentum of particles of this mass, a power of two.
pub(crate) fn quanta_per_n_s(particle_mass_kg: f64) -> f32 {
    (QUANTA_EXPONENT - particle_mass_kg.log2().ceil()).clamp(-100.0, 100.0).exp2() as f32
}

/// Loads on the bodies that a scene names, on the device.
///
/// Kernels add the impulses or forces of a step to 64-bit integers, so that sums do not depend on the order
/// of additions; the end of a step converts them to forces, torques and impulses. The terrain and bodies
/// without a name have no loads.
pub struct BodyLoads {
    pub(crate) loads: Buffer<RawLoad>,
    ring: ReadbackRing,
    names: Vec<String>,
    /// Those of the bodies that move by their loads.
    dynamic: Option<DynamicBodies>,
}

/// Creates sums of impulse and angular impulse on `n` bodies, at least one.
///
/// # Errors
/// Out of memory.
pub(crate) fn impulse_sums(device: &Device, n: usize) -> Result<Buffer<u32>> {
    device.buffer_from("body impulse sums", &vec![0; WRENCH_WORDS as usize * n.max(1)])
}

impl BodyLoads {
    /// Creates the loads of the named bodies of a scene, at time 0.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn new(device: &Device, surroundings: &Surroundings) -> Result<Self> {
        let dynamic = DynamicBodies::new(device, surroundings)?;
        Ok(Self { dynamic, ..Self::of(device, &surroundings.names)? })
    }

    /// Creates the loads of bodies that no load moves. The buffer of none has one element that no kernel
    /// reads.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn of(device: &Device, names: &[String]) -> Result<Self> {
        let n = names.len().max(1);
        Ok(Self {
            loads: device.buffer_from("body loads", &vec![RawLoad::zeroed(); n])?,
            ring: ReadbackRing::new(device),
            names: names.to_vec(),
            dynamic: None,
        })
    }

    /// Returns the bodies that move by their loads, if the scene has any.
    pub fn dynamic(&self) -> Option<&DynamicBodies> {
        self.dynamic.as_ref()
    }

    /// Records the places of dynamic bodies in a step: first in it or, for what looks at them between two,
    /// now.
    pub(crate) fn record_places(&self, recorder: &mut Recorder, shared: Shared<'_>, is_in_step: bool) {
        if let Some(dynamic) = &self.dynamic {
            dynamic.record_places(recorder, shared, is_in_step);
        }
    }

    /// Records the first joint and contact impulses of dynamic bodies, of half a step, at time 0.
    pub(crate) fn record_start(&self, recorder: &mut Recorder, shared: Shared<'_>) {
        if let Some(dynamic) = &self.dynamic {
            dynamic.record_start(recorder, shared);
        }
    }

    /// Records the motion of dynamic bodies at the end of a step, whose loads are known.
    pub(crate) fn record_motion(&self, recorder: &mut Recorder, shared: Shared<'_>) {
        if let Some(dynamic) = &self.dynamic {
            dynamic.record_motion(recorder, shared, &self.loads);
        }
    }

    /// Takes over gravity and time step of a changed scene.
    pub(crate) fn set_surroundings(&mut self, surroundings: &Surroundings) {
        if let Some(dynamic) = &mut self.dynamic {
            dynamic.set_surroundings(surroundings);
        }
    }

    /// Returns the names of the bodies, in the order of their loads.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Registers the loads for checkpoints; without named bodies there are none.
    pub(crate) fn register(&self, table: &mut ParticleTable) {
        if !self.names.is_empty() {
            let loads = DoubleBuffer::single(self.loads.cast());
            table.array(LOADS_COLUMN, "1", ColumnKind::Matrix(LOAD_WORDS), loads);
        }
        if let Some(dynamic) = &self.dynamic {
            dynamic.register(table);
        }
    }

    /// Records the read-back of the loads.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record(&self, recorder: &mut Recorder) -> Result<PendingLoads> {
        Ok(PendingLoads { loads: self.ring.read(recorder, &self.loads, self.names.len())? })
    }
}

impl std::fmt::Debug for BodyLoads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BodyLoads").field("names", &self.names).finish_non_exhaustive()
    }
}

/// Load of the particles on a body.
///
/// Torques are about the body's centre; of a body that rotates, about a point of its axis.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyLoad {
    /// Force of the last step in N.
    pub force_n: [f64; 3],
    /// Maximum force of any step so far in N.
    pub peak_n: f64,
    /// Torque of the last step in N m.
    pub torque_n_m: [f64; 3],
    /// Impulse so far, Σ F Δt, in N s: its difference over an interval gives the mean force.
    pub impulse_n_s: [f64; 3],
    /// Angular impulse so far, Σ τ Δt, in N m s.
    pub angular_impulse_n_m_s: [f64; 3],
}

impl From<RawLoad> for BodyLoad {
    fn from(load: RawLoad) -> Self {
        let wide = |v: [f32; 3]| v.map(f64::from);
        Self {
            force_n: wide(load.force_n),
            peak_n: load.peak_n.into(),
            torque_n_m: wide(load.torque_n_m),
            impulse_n_s: wide(load.impulse_n_s),
            angular_impulse_n_m_s: wide(load.angular_impulse_n_m_s),
        }
    }
}

impl BodyLoad {
    /// Returns the names and units of [`Self::values`] of bodies with these names.
    pub fn names(bodies: &[String]) -> Vec<(String, &'static str)> {
        let axes = ["x", "y", "z"];
        let mut names = Vec::new();
        for body in bodies {
            names.extend(axes.map(|axis| (format!("force_on_{body}_{axis}"), "N")));
            names.push((format!("peak_force_on_{body}"), "N"));
            names.extend(axes.map(|axis| (format!("impulse_on_{body}_{axis}"), "N s")));
            names.extend(axes.map(|axis| (format!("torque_on_{body}_{axis}"), "N m")));
            names.extend(axes.map(|axis| (format!("angular_impulse_on_{body}_{axis}"), "N m s")));
        }
        names
    }

    /// Returns the values in the order of [`Self::names`].
    pub fn values(&self) -> Vec<f64> {
        let mut values = self.force_n.to_vec();
        values.push(self.peak_n);
        values.extend(self.impulse_n_s);
        values.extend(self.torque_n_m);
        values.extend(self.angular_impulse_n_m_s);
        values
    }
}

/// Loads that are being read back.
#[derive(Debug)]
pub struct PendingLoads {
    loads: Pending<RawLoad>,
}

impl PendingLoads {
    /// Returns true if the result has arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        self.loads.is_ready()
    }

    /// Waits for the loads on all bodies.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<Vec<BodyLoad>> {
        Ok(self.loads.wait()?.into_iter().map(BodyLoad::from).collect())
    }
}

/// Appends the metrics of loads to those of a solver.
pub(crate) fn with_load_metrics(
    own: impl IntoIterator<Item = MetricInfo>,
    loads: Option<&BodyLoads>,
) -> Vec<MetricInfo> {
    let of_bodies = loads.map(|loads| MetricInfo::list(BodyLoad::names(&loads.names))).unwrap_or_default();
    with_motion_metrics(own.into_iter().chain(of_bodies), loads)
}

/// Appends the metrics of the motion of dynamic bodies.
pub(crate) fn with_motion_metrics(
    own: impl IntoIterator<Item = MetricInfo>,
    loads: Option<&BodyLoads>,
) -> Vec<MetricInfo> {
    let of_dynamic = loads.and_then(BodyLoads::dynamic).map(DynamicBodies::metrics).unwrap_or_default();
    own.into_iter().chain(of_dynamic).collect()
}

/// Appends the values of the motion of dynamic bodies to a measurement.
///
/// # Errors
/// No memory for another read-back.
pub(crate) fn with_motion_values(
    own: PendingMeasurement,
    loads: Option<&BodyLoads>,
    recorder: &mut Recorder,
) -> Result<PendingMeasurement> {
    let Some(dynamic) = loads.and_then(BodyLoads::dynamic) else { return Ok(own) };
    Ok(forwarded(
        (own, dynamic.record_values(recorder)?),
        |(own, motions)| Ok(own.is_ready()? && motions.is_ready()?),
        |(own, motions)| {
            let mut measured = own.wait()?;
            measured.values.extend(motions.wait()?);
            Ok(measured)
        },
    ))
}

/// Appends the values of loads to a measurement.
///
/// # Errors
/// No memory for another read-back.
pub(crate) fn with_load_values(
    own: PendingMeasurement,
    loads: Option<&BodyLoads>,
    recorder: &mut Recorder,
) -> Result<PendingMeasurement> {
    Ok(match loads {
        None => own,
        Some(own_loads) => {
            let own = Box::new(MeasurementWithLoads { own, loads: own_loads.record(recorder)? });
            with_motion_values(own, loads, recorder)?
        }
    })
}

/// A measurement followed by the loads on bodies.
struct MeasurementWithLoads {
    own: PendingMeasurement,
    loads: PendingLoads,
}

impl PendingResult<Measurement> for MeasurementWithLoads {
    fn is_ready(&self) -> Result<bool> {
        Ok(self.own.is_ready()? && self.loads.is_ready()?)
    }

    fn wait(self: Box<Self>) -> Result<Measurement> {
        let mut measured = self.own.wait()?;
        measured.values.extend(self.loads.wait()?.iter().flat_map(BodyLoad::values));
        Ok(measured)
    }
}
