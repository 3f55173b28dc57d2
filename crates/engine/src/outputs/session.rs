//! Main loop of a run: submits steps and collects results.
//! Several steps are recorded at a time, as many as take some 50 ms but not beyond the next step with an
//! output, and submitted without waiting.
//! Outputs are recorded after them as copies into staging buffers, and collected when the device has
//! finished. The host waits for the oldest submission when [`MAX_IN_FLIGHT`] are in flight, and for all of
//! them before a change of parameters, and before a picture that reads results back.
//!
//! If a record of fixed size overflows, the device keeps the state of the step before, and the steps and
//! outputs submitted since are void. When the host reads the fault, it drops those outputs, enlarges the
//! record, and goes on from that step: [`Session::roll_back`]. So a change of parameters is only made once
//! all steps before it are known to be sound.

use super::batch::{OutputBatch, StepTime};
use super::changes::Changes;
use super::observers::{Activity, Progress, StepTimer, TimedSubmission};
use super::schedule::{Due, Schedule};
use super::writer::Writer;
use crate::energy_limit::EnergyLimit;
use crate::failure::Failure;
use crate::invariants;
use crate::picture::{Camera, PendingPicture};
use crate::simulation::Simulation;
use crate::state::{self, PendingColumn};
use crate::stepping::{MAX_IN_FLIGHT, Pace};
use frazil_scene::Scene;
use frazil_solvers::{PendingFault, PendingInvariants, PendingMeasurement, SolverFault};
use frazil_vk::{ReadbackRing, Recorder, RecorderOptions, Submission};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Outputs of a run.
pub struct OutputPlan<'a> {
    /// Output intervals, and the last step.
    pub schedule: Schedule,
    /// Changes of parameters while the run goes on.
    pub changes: Changes,
    /// Names of the recorded columns.
    pub recorded: Vec<String>,
    /// Camera of the pictures, if there are any.
    pub camera: Option<Camera>,
    /// Thread that writes the results.
    pub writer: &'a Writer,
    /// Display of the progress.
    pub progress: &'a dyn Progress,
    /// Log of time stamps, if requested.
    pub timer: Option<&'a mut dyn StepTimer>,
}

/// State of a run in progress.
pub struct Session<'a> {
    simulation: &'a mut Simulation,
    plan: OutputPlan<'a>,
    energy: EnergyLimit,
    ring: ReadbackRing,
    next_picture: u64,
    /// Time at which the last submission was found finished; initially the start of the session.
    retired: Instant,
    pace: Pace,
    in_flight: VecDeque<InFlight>,
    pending_outputs: VecDeque<PendingOutput>,
}

struct InFlight {
    submission: Submission,
    n_passes: u32,
    /// Number of passes at the end of each step.
    step_ends: Vec<u32>,
    last_step: u64,
    /// Faults found by its steps, if the solver detects them.
    fault: Option<PendingFault>,
}

/// Pending outputs of one step.
struct PendingOutput {
    step: u64,
    time_s: f64,
    /// Number of substeps of the last step, if it varies.
    substeps: Option<u32>,
    due: Due,
    metrics: PendingMeasurement,
    invariants: Option<PendingInvariants>,
    fault: Option<PendingFault>,
    picture: Option<PendingPicture>,
    columns: Vec<PendingColumn>,
    /// Scene at this step, for a checkpoint.
    scene: Option<Scene>,
    /// Columns of rigid bodies, if the recording requires them.
    bodies: Vec<PendingColumn>,
}

/// Results of a [`PendingOutput`].
enum Arrived {
    Output(Box<OutputBatch>),
    /// Fault of a step up to that of the output.
    Fault(SolverFault),
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All steps were taken.
    Complete,
    /// The interrupt was set.
    Interrupted,
}

impl<'a> Session<'a> {
    /// Begins a run, or goes on with one that was resumed.
    pub fn new(simulation: &'a mut Simulation, plan: OutputPlan<'a>) -> Self {
        let energy = EnergyLimit::new(&simulation.solver.metrics());
        let ring = ReadbackRing::new(&simulation.device);
        // The pictures of a step are written with it; a run resumed at step s has those up to s.
        let step = simulation.step();
        let next_picture = plan.schedule.pictures_before(if step == 0 { 0 } else { step + 1 });
        let (in_flight, pending_outputs) = Default::default();
        Self {
            simulation,
            plan,
            energy,
            ring,
            next_picture,
            retired: Instant::now(),
            pace: Pace::default(),
            in_flight,
            pending_outputs,
        }
    }

    /// Runs to the last step, or to the end of the submission in which `interrupt` is set.
    ///
    /// # Errors
    /// A fault that is no overflow, a violated invariant, or a lost device; the writer has stopped.
    pub fn run(&mut self, interrupt: &AtomicBool) -> Result<Ended, Failure> {
        if self.simulation.step() == 0 {
            self.submit(0, self.plan.schedule.due(0))?;
        }
        let ended = loop {
            self.retire_to(MAX_IN_FLIGHT - 1)?;
            if self.simulation.step() >= self.plan.schedule.last_step {
                self.finish_submitted()?;
                if self.simulation.step() < self.plan.schedule.last_step {
                    continue;
                }
                break Ended::Complete;
            }
            if interrupt.load(Ordering::Relaxed) {
                self.finish_submitted()?;
                // A checkpoint is of the state between two steps.
                while self.simulation.is_within_step() {
                    self.submit(1, Due::default())?;
                    self.finish_submitted()?;
                    if !self.simulation.is_within_step() {
                        self.submit(0, self.plan.schedule.due(self.simulation.step()))?;
                        self.finish_submitted()?;
                    }
                }
                if self.simulation.step() > 0 && self.plan.schedule.checkpoint.is_some() {
                    self.submit(0, Due { checkpoint: true, ..Due::default() })?;
                    self.finish_submitted()?;
                }
                break Ended::Interrupted;
            }
            let step = self.simulation.step();
            let max = u64::from(self.simulation.scene.solver.steps_per_submission);
            // Outputs of this step show the state before the change.
            let due = self.plan.changes.due(step);
            if !due.is_empty() {
                self.finish_submitted()?;
                if self.simulation.step() != step {
                    continue;
                }
                for change in self.simulation.change(&due)? {
                    self.plan.progress.note(&change);
                }
                self.energy.restart();
            }
            let next = self
                .plan
                .schedule
                .next_after(step)
                .min(self.plan.changes.next_after(step).unwrap_or(u64::MAX));
            let n = self.simulation.steps_at_once(self.pace.steps(max).min(next - step));
            let due = self.plan.schedule.due(step + n);
            if due.picture
                && self
                    .plan
                    .camera
                    .as_ref()
                    .is_some_and(|camera| camera.needs_readback(&*self.simulation.solver))
            {
                self.submit(n, Due::default())?;
                self.finish_submitted()?;
                if self.simulation.step() != step + n {
                    continue;
                }
                self.submit(0, due)?;
            } else {
                self.submit(n, due)?;
            }
            self.collect()?;
        };
        self.plan.progress.clear();
        Ok(ended)
    }

    fn submit(&mut self, steps: u64, due: Due) -> Result<(), Failure> {
        let begin = Instant::now();
        let device = self.simulation.device.clone();
        let options = RecorderOptions { profile: self.plan.timer.is_some(), ..Default::default() };
        let mut recorder = device.recorder_with(options)?;
        let step_ends = self.simulation.record_steps(&mut recorder, steps);
        if due.any() {
            let output = self.record_outputs(&mut recorder, due)?;
            self.pending_outputs.push_back(output);
        }
        let fault = self.simulation.solver.record_fault_check(&mut recorder)?;
        let n_passes = recorder.pass_count();
        if let Some(timer) = &mut self.plan.timer {
            timer.host(Activity::Record, begin, None);
        }
        let begin = Instant::now();
        let submission = device.submit(recorder)?;
        if let Some(timer) = &mut self.plan.timer {
            timer.host(Activity::Submit, begin, Some(submission.value()));
        }
        let last_step = self.simulation.step();
        self.in_flight.push_back(InFlight { submission, n_passes, step_ends, last_step, fault });
        Ok(device.check_validation()?)
    }

    /// Records the outputs due after the steps recorded so far.
    fn record_outputs(&mut self, recorder: &mut Recorder, due: Due) -> Result<PendingOutput, Failure> {
        let simulation = &mut *self.simulation;
        let (step, time_s, substeps) =
            (simulation.step(), simulation.time_s(), simulation.varying_substeps());
        // Always measured: an invalid state must not be written as if it were valid, and written densities
        // must match the written positions.
        let metrics = simulation.solver.record_metrics(recorder)?;
        let invariants = if due.check { simulation.solver.record_invariant_check(recorder)? } else { None };
        let fault = simulation.solver.record_fault_check(recorder)?;
        let picture = match &mut self.plan.camera {
            Some(camera) if due.picture => {
                let index = self.next_picture;
                self.next_picture += 1;
                Some(camera.record(recorder, &self.ring, simulation, index)?)
            }
            _ => None,
        };
        let columns = if due.checkpoint {
            simulation.state_columns()
        } else if due.record || due.check {
            let mut columns = simulation.solver.columns();
            // They include the ids, which are sufficient for a check.
            columns.retain(|column| self.plan.recorded.iter().any(|name| *name == column.name));
            columns
        } else {
            Vec::new()
        };
        if !columns.is_empty() {
            simulation.solver.record_output(recorder);
        }
        let bodies = if due.record { simulation.body_columns() } else { Vec::new() };
        let columns = state::read_columns(&self.ring, recorder, &columns, simulation.solver.varying_count())?;
        let bodies = state::read_columns(&self.ring, recorder, &bodies, None)?;
        let scene = due.checkpoint.then(|| self.simulation.scene.clone());
        Ok(PendingOutput {
            scene,
            step,
            time_s,
            substeps,
            due,
            metrics,
            invariants,
            fault,
            picture,
            columns,
            bodies,
        })
    }

    /// Waits for submissions until at most `leave` are in flight.
    fn retire_to(&mut self, leave: usize) -> Result<(), Failure> {
        while self.in_flight.len() > leave {
            self.retire_oldest()?;
        }
        Ok(())
    }

    /// Waits for all submissions and their outputs; the steps up to that of the simulation are then sound.
    fn finish_submitted(&mut self) -> Result<(), Failure> {
        self.retire_to(0)?;
        self.collect()
    }

    fn retire_oldest(&mut self) -> Result<(), Failure> {
        let Some(oldest) = self.in_flight.pop_front() else { return Ok(()) };
        let begin = Instant::now();
        if !oldest.submission.is_done()? {
            oldest.submission.wait()?;
        }
        if let Some(timer) = &mut self.plan.timer {
            timer.host(Activity::Wait, begin, Some(oldest.submission.value()));
        }
        if let Some(fault) = oldest.fault.map(|fault| fault.wait()).transpose()?.flatten() {
            return self.roll_back(&fault);
        }
        if let Some(timer) = &mut self.plan.timer {
            let begin = Instant::now();
            let number = oldest.submission.value();
            timer.submission(&TimedSubmission {
                number,
                last_step: oldest.last_step,
                times: &oldest.submission.pass_times()?,
                step_ends: &oldest.step_ends,
                n_passes: oldest.n_passes,
            });
            timer.host(Activity::Collect, begin, Some(number));
        }
        self.plan.progress.reached(oldest.last_step);
        let took = self.retired.elapsed();
        self.retired = Instant::now();
        let steps = oldest.step_ends.len();
        self.pace.took(took, steps as u32);
        if steps > 0 && self.plan.schedule.metrics.is_some() {
            let ms_per_step = 1e3 * took.as_secs_f64() / steps as f64;
            let timing = Some(StepTime { step: oldest.last_step, ms_per_step });
            self.plan.writer.send(OutputBatch { timing, ..OutputBatch::default() })?;
        }
        Ok(())
    }

    /// Forwards the arrived results, oldest first, without waiting for the device.
    fn collect(&mut self) -> Result<(), Failure> {
        while let Some(output) = self.pending_outputs.pop_front() {
            if !output.is_ready()? {
                self.pending_outputs.push_front(output);
                break;
            }
            match output.arrive(self.simulation, &mut self.energy, &self.plan.recorded)? {
                Arrived::Output(batch) => self.plan.writer.send(*batch)?,
                Arrived::Fault(fault) => return self.roll_back(&fault),
            }
        }
        Ok(())
    }

    /// Goes on from the step before an overflow, with a larger record; any other fault is the failure.
    fn roll_back(&mut self, fault: &SolverFault) -> Result<(), Failure> {
        // Later submissions have changed nothing.
        for later in self.in_flight.drain(..) {
            later.submission.wait()?;
        }
        let is_void = |output: &PendingOutput| output.step >= fault.step;
        let first_void =
            self.pending_outputs.iter().find(|output| is_void(output) && output.picture.is_some());
        if let Some(picture) = first_void.and_then(|output| output.picture.as_ref()) {
            self.next_picture = picture.index();
        }
        self.pending_outputs.retain(|output| !is_void(output));
        // All earlier results are valid.
        self.collect()?;
        let regrown = self.simulation.recover(fault)?;
        self.plan.progress.note(&regrown);
        self.plan.progress.reached(regrown.place.step);
        self.retired = Instant::now();
        Ok(())
    }
}

impl PendingOutput {
    fn is_ready(&self) -> Result<bool, Failure> {
        // All of it was copied in one submission.
        Ok(self.metrics.is_ready()?)
    }

    fn arrive(
        self,
        simulation: &Simulation,
        energy: &mut EnergyLimit,
        recorded: &[String],
    ) -> Result<Arrived, Failure> {
        let Self { step, time_s, substeps, due, metrics, invariants, fault, picture, columns, .. } = self;
        let Self { scene, bodies, .. } = self;
        let mut measured = metrics.wait()?;
        measured.values.extend(substeps.map(f64::from));
        if let Some(fault) = fault.map(|fault| fault.wait()).transpose()?.flatten() {
            return Ok(Arrived::Fault(fault));
        }
        // No invariant holds of what was not computed.
        let is_computed = !simulation.device.is_dry_run();
        let invariants = invariants.map(|invariants| invariants.wait()).transpose()?.unwrap_or_default();
        if is_computed {
            invariants::check_state(&measured.summary, step, simulation.n_expected())?;
            energy.check(&simulation.scene, step, &measured)?;
            invariants::check_invariants(&invariants, step)?;
        }
        let columns = columns.into_iter().map(PendingColumn::wait).collect::<Result<Vec<_>, _>>()?;
        let bodies = bodies.into_iter().map(PendingColumn::wait).collect::<Result<Vec<_>, _>>()?;
        if due.check
            && is_computed
            && let Some(ids) = columns.iter().find(|column| column.name == "id")
        {
            invariants::check_ids(&ids.words, step, simulation.n_expected().is_some())?;
        }
        // The additional columns of a checkpoint are not recorded.
        let shown = columns.iter().take(simulation.solver.columns().len());
        let recorded = shown.filter(|column| recorded.iter().any(|name| *name == column.name));
        Ok(Arrived::Output(Box::new(OutputBatch {
            timing: None,
            is_last_row: due.metrics_at_end,
            metrics: due.metrics.then(|| [step as f64, time_s].into_iter().chain(measured.values).collect()),
            picture: picture.map(PendingPicture::wait).transpose()?,
            frame: due.record.then(|| state::frame(step, time_s, recorded, &bodies)).transpose()?,
            checkpoint: scene.map(|scene| state::checkpoint(&scene, step, time_s, &columns)).transpose()?,
        })))
    }
}
