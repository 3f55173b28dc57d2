//! Steps that a simulation in a window has taken: states in memory, from which any of them is computed again.

use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::state::{self, HostColumn, PendingColumn};
use frazil_io::{Checkpoint, ParameterChange};
use frazil_scene::Scene;
use frazil_vk::{Device, ReadbackRing, Recorder};

/// Memory for states in bytes; beyond it every second state is dropped.
const BUDGET_BYTES: usize = 1 << 29;
/// Steps between two states at first. The interval doubles each time states are dropped.
const FIRST_INTERVAL: u64 = 16;

/// States of a simulation by step.
///
/// Invariant: a step that [`Self::source`] returns is computed with the same bits as when it was first shown:
/// scenes are constant between two states, and no steps during which particles or bodies were pulled are
/// repeated.
pub struct Timeline {
    ring: ReadbackRing,
    states: Vec<State>,
    /// Last step taken so far.
    last: u64,
    interval: u64,
    budget_bytes: usize,
    /// True if something was pulled since the last state.
    is_pulled: bool,
}

/// State of a simulation on the host.
struct State {
    checkpoint: Checkpoint,
    scene: Scene,
    initial_scene: Scene,
    changes: Vec<ParameterChange>,
    /// True if something was pulled in the steps since the state before.
    follows_pull: bool,
}

/// State that is being read back.
pub struct PendingState {
    columns: Vec<PendingColumn>,
    step: u64,
    time_s: f64,
    scene: Scene,
    initial_scene: Scene,
    changes: Vec<ParameterChange>,
    follows_pull: bool,
}

impl Timeline {
    pub fn new(device: &Device) -> Self {
        Self {
            ring: ReadbackRing::new(device),
            states: Vec::new(),
            last: 0,
            interval: FIRST_INTERVAL,
            budget_bytes: BUDGET_BYTES,
            is_pulled: false,
        }
    }

    /// Returns the last step taken so far.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Forgets the steps after `step`, which the next ones will differ from.
    pub fn truncate(&mut self, step: u64) {
        self.last = self.last.min(step);
        self.states.retain(|state| state.checkpoint.step <= step);
    }

    /// Notes that something is pulled in the next steps: they cannot be computed again.
    pub fn pull(&mut self, step: u64) {
        self.truncate(step);
        self.is_pulled = true;
    }

    /// Records the read-back of the state at the end of a recorder, if one is due.
    pub fn record(
        &mut self,
        recorder: &mut Recorder,
        simulation: &Simulation,
    ) -> Result<Option<PendingState>, Failure> {
        let step = simulation.step();
        let is_due = match self.states.last() {
            Some(state) => step >= state.checkpoint.step + self.interval,
            None => true,
        };
        self.last = self.last.max(step);
        if is_due { self.record_now(recorder, simulation).map(Some) } else { Ok(None) }
    }

    /// Records the read-back of the state at the end of a recorder.
    pub fn record_now(
        &mut self,
        recorder: &mut Recorder,
        simulation: &Simulation,
    ) -> Result<PendingState, Failure> {
        self.last = self.last.max(simulation.step());
        simulation.solver.record_output(recorder);
        let count = simulation.solver.varying_count();
        let columns = state::read_columns(&self.ring, recorder, &simulation.state_columns(), count)?;
        Ok(PendingState {
            columns,
            step: simulation.step(),
            time_s: simulation.time_s(),
            scene: simulation.scene.clone(),
            initial_scene: simulation.initial_scene().clone(),
            changes: simulation.changes().to_vec(),
            follows_pull: std::mem::take(&mut self.is_pulled),
        })
    }

    /// Keeps a state once it has arrived, unless its step was forgotten since.
    pub fn keep(&mut self, pending: PendingState) -> Result<(), Failure> {
        let PendingState { columns, step, time_s, scene, initial_scene, changes, mut follows_pull } = pending;
        let columns =
            columns.into_iter().map(PendingColumn::wait).collect::<frazil_vk::Result<Vec<HostColumn>>>()?;
        if step > self.last {
            return Ok(());
        }
        // After a change, the state with the changed scene is the one that steps follow.
        if let Some(same) = self.states.iter().position(|state| state.checkpoint.step == step) {
            follows_pull |= self.states.remove(same).follows_pull;
        }
        let checkpoint = state::checkpoint(&scene, step, time_s, &columns)?;
        let place = self.states.partition_point(|state| state.checkpoint.step < step);
        self.states.insert(place, State { checkpoint, scene, initial_scene, changes, follows_pull });
        self.thin();
        Ok(())
    }

    /// Restores the simulation at `step`, or at the first step after it that can be computed again. Returns
    /// it with the number of steps that are left to take. It waits for the device.
    pub fn source(&self, device: &Device, step: u64) -> Result<(Simulation, u64), Failure> {
        let step = step.min(self.last);
        let after = self.states.partition_point(|state| state.checkpoint.step <= step);
        let before = after.saturating_sub(1);
        let is_at = |place: usize| self.states.get(place).is_some_and(|state| state.checkpoint.step == step);
        // Steps in which something was pulled end at the state after them.
        let place = match self.states.get(after) {
            Some(next) if next.follows_pull && !is_at(before) => after,
            _ => before,
        };
        let Some(state) = self.states.get(place) else {
            return Err(Failure::other("no state of an earlier step is in memory"));
        };
        let mut simulation = Simulation::restore(device, state.scene.clone(), &state.checkpoint)?;
        simulation.set_history(state.initial_scene.clone(), state.changes.clone());
        Ok((simulation, step.saturating_sub(state.checkpoint.step)))
    }

    /// Drops every second state while they need more memory than the budget. States that end a pull or follow
    /// a change of the scene stay.
    fn thin(&mut self) {
        while self.bytes() > self.budget_bytes && self.states.len() > 2 {
            let before = self.states.len();
            let last = before - 1;
            let is_kept = |(place, state): &(usize, State), scene_before: Option<&Scene>| {
                let is_changed = scene_before.is_some_and(|before| *before != state.scene);
                place % 2 == 0 || *place == last || state.follows_pull || is_changed
            };
            let mut kept: Vec<State> = Vec::with_capacity(before);
            for (place, state) in std::mem::take(&mut self.states).into_iter().enumerate() {
                let item = (place, state);
                if is_kept(&item, kept.last().map(|state| &state.scene)) {
                    kept.push(item.1);
                }
            }
            self.states = kept;
            if self.states.len() == before {
                return;
            }
            self.interval *= 2;
        }
    }

    fn bytes(&self) -> usize {
        let of = |state: &State| state.checkpoint.sections.values().map(Vec::len).sum::<usize>();
        self.states.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use frazil_engine::snapshot::state_hash;
    use frazil_testkit::own_device;

    /// A simulation with its timeline, and the hash of the state after each step.
    struct Run {
        simulation: Simulation,
        timeline: Timeline,
        hashes: Vec<String>,
    }

    impl Run {
        fn new() -> Self {
            let device = own_device();
            let overrides = ["fluid.particle_spacing_m=0.0243333333".to_owned()];
            let simulation = Simulation::new(&device, Scene::find("dam_break", &overrides).unwrap()).unwrap();
            let timeline = Timeline { interval: 4, ..Timeline::new(&device) };
            let mut run = Self { simulation, timeline, hashes: Vec::new() };
            run.take(0);
            run
        }

        fn take(&mut self, steps: u64) {
            for _ in 0..steps.max(1) {
                let device = self.simulation.device.clone();
                let mut recorder = device.recorder().unwrap();
                self.simulation.record_steps(&mut recorder, steps.min(1));
                let pending = self.timeline.record(&mut recorder, &self.simulation).unwrap();
                device.submit(recorder).unwrap();
                pending.into_iter().for_each(|pending| self.timeline.keep(pending).unwrap());
                let step = self.simulation.step() as usize;
                self.hashes.truncate(step);
                self.hashes.push(state_hash(&self.simulation).unwrap());
            }
        }

        fn keep_now(&mut self) {
            let device = self.simulation.device.clone();
            let mut recorder = device.recorder().unwrap();
            let pending = self.timeline.record_now(&mut recorder, &self.simulation).unwrap();
            device.submit(recorder).unwrap();
            self.timeline.keep(pending).unwrap();
        }

        /// Returns the step and the hash of the state that is found for `step`.
        fn at(&self, step: u64) -> (u64, String) {
            let (mut simulation, left) = self.timeline.source(&self.simulation.device, step).unwrap();
            let device = simulation.device.clone();
            let mut recorder = device.recorder().unwrap();
            simulation.record_steps(&mut recorder, left);
            device.submit(recorder).unwrap();
            (simulation.step(), state_hash(&simulation).unwrap())
        }
    }

    #[test]
    fn earlier_steps_have_their_bits_across_changes_and_thinned_states() {
        let mut run = Run::new();
        run.take(6);
        run.simulation.change(&["gravity_m_s2=[3.0, -2.0, 0.0]".to_owned()]).unwrap();
        run.keep_now();
        run.take(7);
        for budget_bytes in [usize::MAX, run.timeline.bytes() / 2] {
            run.timeline.budget_bytes = budget_bytes;
            run.timeline.thin();
            for step in [0, 3, 5, 6, 7, 12, 13] {
                assert_eq!(run.at(step), (step, run.hashes[step as usize].clone()), "{budget_bytes}");
            }
        }
        assert_eq!(run.at(99).0, 13);
        assert!(run.timeline.interval > 4);
        // After a step back and another change, the steps before were never taken.
        let (simulation, left) = run.timeline.source(&run.simulation.device, 5).unwrap();
        assert_eq!(simulation.step() + left, 5);
        run.simulation = simulation;
        run.take(left);
        run.timeline.truncate(5);
        assert_eq!(run.timeline.last(), 5);
        assert_eq!(run.simulation.changes(), []);
        run.take(3);
        assert_eq!(run.at(8), (8, run.hashes[8].clone()));
    }

    #[test]
    fn pulled_steps_end_at_the_state_after_them() {
        let mut run = Run::new();
        run.take(5);
        run.timeline.pull(5);
        run.simulation.grab = Some(frazil_solvers::Grab {
            centre_m: [0.05, 0.05, 0.05],
            direction: [0.0, 0.0, 1.0],
            velocity_m_s: [0.5, 0.0, 0.0],
            radius_m: 0.2,
            rate_1_s: 10.0,
        });
        run.take(2);
        run.simulation.grab = None;
        run.keep_now();
        run.take(2);
        assert_eq!(run.at(4).0, 4);
        assert_eq!(run.at(6), (7, run.hashes[7].clone()));
        assert_eq!(run.at(9), (9, run.hashes[9].clone()));
    }
}
