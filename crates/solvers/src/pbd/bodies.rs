//! Bodies among position-based particles: what they cut off of densities, how they push, drag and rub, and what that does to them.

use super::parameters::Parameters;
use crate::SolverError;
use bytemuck::Zeroable;
use frazil_particles::{ColumnKind, ColumnView, PhaseArray};
use frazil_shaders::pbd::{drag_along, push_out, total_loads, weigh_bodies};
use frazil_shaders::snow::rub_on_bodies;
use frazil_shaders::types::{Body, BodyLoad, BodyTerms};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};

/// Words of the sums of force and torque on a body.
const SUM_WORDS: usize = 12;

/// Exponent of the quanta of momentum in a particle's mass times 1 m/s: sums of 2²⁶ particles at 1 m/s fit into 63 bits.
const QUANTA_EXPONENT: f64 = 36.0;

/// The scene's bodies on the device, and the kernels that meet them.
pub(super) struct Bodies {
    terms: Buffer<BodyTerms>,
    /// Steps so far: one number.
    steps: Buffer<u32>,
    bodies: Buffer<Body>,
    heights: Buffer<f32>,
    sums: Buffer<u32>,
    loads: Buffer<BodyLoad>,
    ring: ReadbackRing,
    n: usize,
    weigh: Kernel<weigh_bodies::Interface>,
    push_water: Kernel<push_out::Interface>,
    push_snow: Kernel<push_out::Interface>,
    drag: Kernel<drag_along::Interface>,
    rub: Kernel<rub_on_bodies::Interface>,
    total: Kernel<total_loads::Interface>,
}

/// What the particles of one phase remember of bodies within a step. Empty where there are none.
#[derive(Clone)]
pub(super) struct AtBodies {
    /// h times the gradient, and the share, of what bodies cut off of the kernel.
    pub cut_off: Buffer<[f32; 4]>,
    /// How far bodies have pushed the particle, and the number of the last one plus one. Of snow only.
    pub push: Buffer<[f32; 4]>,
}

impl AtBodies {
    pub fn new(device: &Device, parameters: &Parameters, capacity: usize) -> Result<Self> {
        let n = if parameters.has_bodies() { capacity } else { 0 };
        let zeros = vec![[0.0; 4]; n];
        Ok(Self {
            cut_off: device.buffer_from("cut off by bodies", &zeros)?,
            push: device.buffer_from("push of bodies", &zeros)?,
        })
    }
}

/// Which pushes of a step these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// Of predicted positions.
    First,
    /// Behind a correction by the density constraint.
    Corrected,
    /// Behind anything else.
    Moved,
}

impl Bodies {
    /// None for a scene without bodies.
    pub fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: &Parameters,
        [static_friction, kinetic_friction]: [f32; 2],
    ) -> Result<Option<Self>> {
        if !parameters.has_bodies() {
            return Ok(None);
        }
        let surroundings = &parameters.surroundings;
        let n = surroundings.colliders.len();
        let terms = BodyTerms {
            walls: parameters.walls,
            dt_s: parameters.dt_s,
            support_m: parameters.support_m,
            over_relaxation: parameters.over_relaxation,
            particle_mass_kg: parameters.particle_mass_kg as f32,
            quanta_per_n_s: (QUANTA_EXPONENT - parameters.particle_mass_kg.log2().ceil()).exp2() as f32,
            wall_friction: parameters.wall_friction,
            static_friction,
            kinetic_friction,
            n_bodies: n as u32,
            up_axis: surroundings.up_axis,
        };
        let heights = if surroundings.heights_m.is_empty() { &[0.0][..] } else { &surroundings.heights_m };
        let has_meshes = surroundings.has_meshes().into();
        let push_out = |has_push: u32| {
            Kernel::specialized(device, &push_out::Specialization { workgroup_size, has_meshes, has_push })
        };
        Ok(Some(Self {
            terms: device.buffer_from("body terms", &[terms])?,
            steps: device.buffer_from("steps", &[0])?,
            bodies: device.buffer_from("bodies", &surroundings.colliders)?,
            heights: device.buffer_from("heights", heights)?,
            sums: device.buffer_from("sums of impulse", &vec![0; SUM_WORDS * n])?,
            loads: device.buffer_from("body loads", &vec![BodyLoad::zeroed(); n])?,
            ring: ReadbackRing::new(device),
            n,
            weigh: Kernel::specialized(device, &weigh_bodies::Specialization { workgroup_size, has_meshes })?,
            push_water: push_out(0)?,
            push_snow: push_out(1)?,
            drag: Kernel::specialized(device, &drag_along::Specialization { workgroup_size, has_meshes })?,
            rub: Kernel::specialized(device, &rub_on_bodies::Specialization { workgroup_size })?,
            total: Kernel::new(device)?,
        }))
    }

    /// What bodies cut off at positions, within a step or between two.
    pub fn weigh(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        at: &Buffer<[f32; 3]>,
        near: &AtBodies,
        is_within_step: bool,
    ) {
        let bindings = weigh_bodies::Bindings {
            count: &count.count,
            terms: &self.terms,
            steps: &self.steps,
            bodies: &self.bodies,
            heights: &self.heights,
            predicted: at,
            cut_off: &near.cut_off,
        };
        let params = weigh_bodies::Params { ahead: is_within_step.into() };
        recorder.dispatch(&self.weigh, Threads::Counted(count), bindings, params);
    }

    /// Moves predicted positions out of bodies; of snow the pushes are kept.
    pub fn push_out(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        (predicted, constraint): (&Buffer<[f32; 3]>, &Buffer<[f32; 4]>),
        near: &AtBodies,
        (push, is_snow): (Push, bool),
    ) {
        let bindings = push_out::Bindings {
            count: &count.count,
            terms: &self.terms,
            steps: &self.steps,
            bodies: &self.bodies,
            heights: &self.heights,
            constraint,
            cut_off: &near.cut_off,
            predicted,
            push: &near.push,
            sums: &self.sums,
        };
        let params = push_out::Params {
            is_first: (push == Push::First).into(),
            is_corrected: (push == Push::Corrected).into(),
        };
        let kernel = if is_snow { &self.push_snow } else { &self.push_water };
        recorder.dispatch(kernel, Threads::Counted(count), bindings, params);
    }

    /// Drag of bodies on water, after XSPH and the drag of walls.
    pub fn drag(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        predicted: &Buffer<[f32; 3]>,
        xsph_viscosity: f32,
    ) {
        let bindings = drag_along::Bindings {
            count: &phase.count.count,
            terms: &self.terms,
            steps: &self.steps,
            bodies: &self.bodies,
            heights: &self.heights,
            predicted,
            updated: phase.velocity.back(),
            velocity: phase.velocity.front(),
            sums: &self.sums,
        };
        recorder.dispatch(
            &self.drag,
            Threads::Counted(&phase.count),
            bindings,
            drag_along::Params { xsph_viscosity },
        );
    }

    /// Friction of snow on bodies.
    pub fn rub(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        predicted: &Buffer<[f32; 3]>,
        contact: &Buffer<[f32; 2]>,
        near: &AtBodies,
    ) {
        let bindings = rub_on_bodies::Bindings {
            count: &phase.count.count,
            terms: &self.terms,
            steps: &self.steps,
            bodies: &self.bodies,
            heights: &self.heights,
            position: phase.position.front(),
            contact,
            push: &near.push,
            predicted,
            sums: &self.sums,
        };
        recorder.dispatch(&self.rub, Threads::Counted(&phase.count), bindings, ());
    }

    /// The end of a step: what has acted on each body.
    pub fn total(&self, recorder: &mut Recorder) {
        let bindings = total_loads::Bindings {
            terms: &self.terms,
            steps: &self.steps,
            sums: &self.sums,
            loads: &self.loads,
        };
        recorder.dispatch(&self.total, Threads::Fixed(self.n), bindings, ());
    }

    /// What a checkpoint must hold.
    pub fn state_columns(&self) -> Vec<ColumnView> {
        let of = |name, words| ColumnView { name, unit: "1", kind: ColumnKind::U32, words };
        vec![of("body steps", self.steps.clone()), of("body loads", self.loads.cast())]
    }

    /// Records the way of the loads to the host.
    pub fn read(&self, recorder: &mut Recorder) -> Result<Pending<BodyLoad>> {
        self.ring.read(recorder, &self.loads, self.n)
    }
}

/// Uploads what [`Bodies::state_columns`] held.
pub(super) fn restore<'a>(
    device: &Device,
    bodies: Option<&Bodies>,
    find: impl Fn(&str, usize) -> std::result::Result<&'a [u32], SolverError>,
) -> std::result::Result<(), SolverError> {
    for column in bodies.map(Bodies::state_columns).unwrap_or_default() {
        device.upload(&column.words, find(column.name, column.words.len())?)?;
    }
    Ok(())
}

/// What has acted on a body. Torques are about the body's centre, of one that turns about a point of its axis.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyMetrics {
    /// Force in N in the last step.
    pub force_n: [f64; 3],
    /// The greatest force in N in any step since the beginning.
    pub peak_n: f64,
    /// Torque in N m in the last step.
    pub torque_n_m: [f64; 3],
    /// Σ F Δt in N s since the beginning: its difference over a time is the mean force.
    pub impulse_n_s: [f64; 3],
    /// Σ τ Δt in N m s since the beginning.
    pub angular_impulse_n_m_s: [f64; 3],
}

impl BodyMetrics {
    pub(super) fn from_load(load: &BodyLoad) -> Self {
        let wide = |v: [f32; 3]| v.map(f64::from);
        Self {
            force_n: wide(load.force_n),
            peak_n: load.peak_n.into(),
            torque_n_m: wide(load.torque_n_m),
            impulse_n_s: wide(load.impulse_n_s),
            angular_impulse_n_m_s: wide(load.angular_impulse_n_m_s),
        }
    }

    /// Names and units of [`Self::values`] of bodies with these names.
    pub fn names(bodies: &[String]) -> Vec<(String, &'static str)> {
        let mut names = Vec::new();
        let axes = ["x", "y", "z"];
        for body in bodies {
            names.extend(axes.map(|axis| (format!("force_on_{body}_{axis}"), "N")));
            names.push((format!("peak_force_on_{body}"), "N"));
            names.extend(axes.map(|axis| (format!("impulse_on_{body}_{axis}"), "N s")));
            names.extend(axes.map(|axis| (format!("torque_on_{body}_{axis}"), "N m")));
            names.extend(axes.map(|axis| (format!("angular_impulse_on_{body}_{axis}"), "N m s")));
        }
        names
    }

    /// The numbers in the order of [`Self::names`].
    pub fn values(&self) -> Vec<f64> {
        let mut values = self.force_n.to_vec();
        values.push(self.peak_n);
        values.extend(self.impulse_n_s);
        values.extend(self.torque_n_m);
        values.extend(self.angular_impulse_n_m_s);
        values
    }
}
