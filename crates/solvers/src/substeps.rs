//! Number of substeps of each step, from the speed of the fastest particle.
//!
//! The speed is measured at the end of each step, and read back while the next one runs: that of a step
//! decides on the second one after it, so that a step is recorded while the one before it runs. The number is
//! a function of states and scene: a run has the same bits however its steps are submitted, and when it is
//! resumed.

use crate::{Solver, StateColumn, StepPlace};
use frazil_particles::{ColumnKind, ColumnView};
use frazil_scene::Scene;
use frazil_shaders::common::find_fastest;
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result};
use std::collections::VecDeque;

/// Names of the saved columns with the paces of the last step and of the one before.
const COLUMNS: [&str; 2] = ["pace", "pace_before"];

/// Steps whose values are kept: those that may have to be repeated, and more.
const KEPT_STEPS: usize = 64;

/// Fastest particle after a step, and the number of its substeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace([u32; 2]);

impl Pace {
    fn of(words: &[u32]) -> Self {
        words.try_into().map_or(Self::default(), Self)
    }

    /// Returns the speed in m/s of the fastest particle after the step.
    pub fn fastest_m_s(self) -> f64 {
        f64::from(f32::from_bits(self.0[0])).sqrt()
    }

    /// Returns the number of substeps of the step; `None` if it was none, as before the first.
    pub fn substeps(self) -> Option<u32> {
        (self.0[1] > 0).then_some(self.0[1])
    }

    /// Takes the paces of the last step and of the one before from the columns of a saved state.
    pub fn take(columns: &mut Vec<StateColumn>) -> [Self; 2] {
        COLUMNS.map(|name| {
            let found = columns.iter().position(|column| column.name == name);
            found.map_or(Self::default(), |place| Self::of(&columns.remove(place).words))
        })
    }
}

/// Decides the number of substeps of each step.
pub struct SubstepControl {
    find: Kernel<find_fastest::Interface>,
    /// Paces of the last step and of the one before.
    paces: [Buffer<u32>; 2],
    ring: ReadbackRing,
    /// Paces that are being read back, by step.
    pending: VecDeque<(u64, Pending<u32>)>,
    /// The last paces that were read back, by step.
    known: VecDeque<(u64, Pace)>,
    /// Number of substeps of the last steps, by step.
    decided: VecDeque<(u64, u32)>,
    /// Number of steps that required more substeps than `time.max_substeps`, the first of them, and the
    /// largest number required.
    short: Option<(u64, u64, u32)>,
}

impl SubstepControl {
    /// Makes the control of a simulation after `step` steps, the last of which, and the one before it, had
    /// these paces; before the first step, that of the solver's state counts. Set-up only: waits for the
    /// device.
    ///
    /// # Errors
    /// Out of memory; the device was lost.
    pub fn new(device: &Device, solver: &dyn Solver, step: u64, paces: [Pace; 2]) -> Result<Self> {
        let mut control = Self {
            find: Kernel::new(device)?,
            paces: [
                device.buffer_from("pace", &paces[0].0)?,
                device.buffer_from("pace before", &paces[1].0)?,
            ],
            ring: ReadbackRing::new(device),
            pending: VecDeque::new(),
            known: VecDeque::new(),
            decided: VecDeque::new(),
            short: None,
        };
        if paces[0].substeps().is_some() {
            control.known.extend([(step.saturating_sub(1), paces[1]), (step, paces[0])]);
        } else {
            let mut recorder = device.recorder()?;
            control.record_pace(&mut recorder, solver, 0);
            device.submit(recorder)?;
            let now = Pace::of(&device.download(&control.paces[0], 2)?);
            control.known.extend([(step.saturating_sub(1), now), (step, now)]);
        }
        Ok(control)
    }

    /// Returns the number of substeps of a step, counted from 1. It waits for the second step before it.
    ///
    /// # Errors
    /// The device was lost, or the second step before has not been submitted.
    pub fn substeps(&mut self, scene: &Scene, step: u64) -> Result<u32> {
        if let Some(n) = self.decided_of(step) {
            return Ok(n);
        }
        let basis = step.saturating_sub(2);
        while self.pending.front().is_some_and(|(of, _)| *of <= basis) {
            self.learn()?;
        }
        let known = self.known.iter().find(|(of, _)| *of == basis);
        let required = scene.required_substeps(known.map_or(f64::NAN, |(_, pace)| pace.fastest_m_s()));
        let n = required.min(scene.time.max_substeps.max(scene.substeps()));
        if n < required {
            let (steps, first, most) = self.short.unwrap_or((0, step, 0));
            self.short = Some((steps + 1, first, most.max(required)));
        }
        keep(&mut self.decided, (step, n));
        Ok(n)
    }

    /// Waits for the oldest pace that is being read back.
    fn learn(&mut self) -> Result<()> {
        if let Some((of, pending)) = self.pending.pop_front() {
            keep(&mut self.known, (of, Pace::of(&pending.wait()?)));
        }
        Ok(())
    }

    /// Returns the number of substeps that was decided for a step, if that is known.
    pub fn decided_of(&self, step: u64) -> Option<u32> {
        self.decided.iter().find(|(of, _)| *of == step).map(|(_, n)| *n)
    }

    /// Records the measurement at the end of a step of `n` substeps.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record(&mut self, recorder: &mut Recorder, solver: &dyn Solver, step: u64, n: u32) -> Result<()> {
        let [now, before] = &self.paces;
        recorder.copy(now, before, now.len());
        self.record_pace(recorder, solver, n);
        self.pending.push_back((step, self.ring.read(recorder, &self.paces[0], 2)?));
        Ok(())
    }

    fn record_pace(&self, recorder: &mut Recorder, solver: &dyn Solver, n_substeps: u32) {
        let pace = &self.paces[0];
        recorder.fill(pace, 0);
        for set in solver.particle_sets() {
            let Some(velocity) = set.column("velocity") else { continue };
            let velocity = &velocity.words.cast();
            let bindings = find_fastest::Bindings { count: set.count, velocity, pace };
            recorder.dispatch_counted(&self.find, bindings, find_fastest::Params { n_substeps });
        }
    }

    /// Goes back to a place: the step that it is in or before is repeated. What was recorded must be
    /// submitted; it waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn roll_back(&mut self, device: &Device, place: StepPlace) -> Result<()> {
        while self.pending.front().is_some_and(|(of, _)| *of <= place.step) {
            self.learn()?;
        }
        self.pending.clear();
        self.decided.retain(|(of, _)| *of <= place.step + 1);
        match self.known.iter().find(|(of, _)| *of == place.step) {
            Some((_, last)) => device.upload(&self.paces[0], &last.0),
            None => Ok(()),
        }
    }

    /// Returns the columns of a saved state from which [`Pace::take`] reads.
    pub fn columns(&self) -> impl Iterator<Item = ColumnView> {
        COLUMNS.into_iter().zip(&self.paces).map(|(name, words)| {
            let column = ColumnView::new(name, "1", ColumnKind::U32, words.clone());
            ColumnView { is_of_particles: false, ..column }
        })
    }

    /// Returns a warning if steps required more substeps than the scene allows.
    pub fn warning(&self, scene: &Scene) -> Option<String> {
        let (steps, first, most) = self.short?;
        Some(format!(
            "{steps} steps, from step {first} on, required up to {most} substeps, more than \
             time.max_substeps = {}: in them particles passed more than time.courant_number = {} allows; a \
             smaller time.dt_s or more substeps help",
            scene.time.max_substeps, scene.time.courant_number
        ))
    }
}

/// Adds a value to a queue that keeps the last [`KEPT_STEPS`].
fn keep<T>(queue: &mut VecDeque<T>, value: T) {
    if queue.len() == KEPT_STEPS {
        queue.pop_front();
    }
    queue.push_back(value);
}
