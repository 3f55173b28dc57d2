//! Live simulation in a window.

use super::drag_tool::Pull;
use super::parameters::{Edit, Parameters};
use super::picked::PairsOfKind;
use super::series::Series;
use super::timeline::{PendingState, Timeline};
use crate::say;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::invariants;
use frazil_engine::picture::Shown;
use frazil_engine::stepping::MAX_IN_FLIGHT_LIVE;
use frazil_scene::Scene;
use frazil_solvers::{BodyPose, Measurement, PendingFault, PendingMeasurement, Surroundings};
use frazil_vk::{Device, PassTime, RecorderOptions, Submission};
use std::collections::VecDeque;

/// Maximum number of steps in a submission of steps that are taken again.
const STEPS_PER_SUBMISSION: u64 = 16;
/// Weight of a new kernel time in the displayed average, which covers about the last ten.
const SMOOTHING: f64 = 0.1;

/// A simulation with its last metrics and kernel times.
pub struct Live {
    pub simulation: Simulation,
    pub measured: Option<Measurement>,
    pub kernels: Vec<KernelTime>,
    pub parameters: Parameters,
    /// Metrics of the steps so far.
    pub series: Series,
    timeline: Timeline,
    /// Body that is being pulled.
    pulled: Option<usize>,
    in_flight: VecDeque<InFlight>,
}

/// Device time of a kernel in a step, averaged over the last submissions.
pub struct KernelTime {
    pub kernel: String,
    pub ms_per_step: f64,
}

struct InFlight {
    submission: Submission,
    metrics: PendingMeasurement,
    fault: Option<PendingFault>,
    state: Option<PendingState>,
    steps: u64,
    step: u64,
    time_s: f64,
    /// Number of substeps of the last step, if it varies.
    substeps: Option<u32>,
}

impl Live {
    /// Creates a simulation in the initial state of the scene, which `source` names.
    pub fn new(device: &Device, scene: Scene, source: &str) -> Result<Self, Failure> {
        let parameters = Parameters::new(&scene, source);
        let simulation = Simulation::new(device, scene)?;
        for warning in &simulation.warnings {
            say::note(format_args!("warning: {warning}"));
        }
        let mut live = Self {
            series: Series::new(simulation.metrics()),
            timeline: Timeline::new(device),
            simulation,
            measured: None,
            kernels: Vec::new(),
            parameters,
            pulled: None,
            in_flight: VecDeque::new(),
        };
        live.advance(0)?;
        Ok(live)
    }

    /// Starts again in the initial state, with the present parameters.
    pub fn restart(&mut self) -> Result<(), Failure> {
        let Simulation { device, scene, .. } = &self.simulation;
        self.simulation = Simulation::new(&device.clone(), scene.clone())?;
        (self.measured, self.in_flight) = (None, VecDeque::new());
        self.kernels.clear();
        self.series = Series::new(self.simulation.metrics());
        self.timeline = Timeline::new(&self.simulation.device);
        self.advance(0)
    }

    /// Applies a change of parameters between two steps. Steps that were taken after the present one are
    /// forgotten if it has an effect.
    pub fn edit(&mut self, edit: Edit) -> Result<(), Failure> {
        // Steps that must be repeated have the parameters from before the change.
        self.collect_completed(0)?;
        let before = self.simulation.scene.clone();
        self.parameters.apply(&mut self.simulation, edit);
        if self.simulation.scene != before { self.keep_state() } else { Ok(()) }
    }

    /// Returns the last step taken so far.
    pub fn last_step(&self) -> u64 {
        self.timeline.last()
    }

    /// Goes to a step that was taken before: the state in memory before it is restored, and the steps up to
    /// it are taken again, with the same bits.
    pub fn seek(&mut self, step: u64) -> Result<(), Failure> {
        self.collect_completed(0)?;
        let device = self.simulation.device.clone();
        let (simulation, left) = self.timeline.source(&device, step)?;
        let end = simulation.step() + left;
        self.simulation = simulation;
        self.parameters.refresh(&self.simulation.scene);
        self.pulled = None;
        // Steps in which a record overflows are taken once more.
        while self.simulation.step() < end {
            self.advance(STEPS_PER_SUBMISSION.min(end - self.simulation.step()))?;
            if self.simulation.step() == end {
                self.collect_completed(0)?;
            }
        }
        self.advance(0)
    }

    /// Goes back to a step after an error of the steps since.
    pub fn go_back(&mut self, step: u64) -> Result<(), Failure> {
        for later in self.in_flight.drain(..) {
            later.submission.wait()?;
        }
        self.seek(step)
    }

    /// Keeps the present state as the one from which steps are computed again, and forgets later steps.
    pub fn keep_state(&mut self) -> Result<(), Failure> {
        self.collect_completed(0)?;
        self.timeline.truncate(self.simulation.step());
        let device = self.simulation.device.clone();
        let mut recorder = device.recorder()?;
        let state = self.timeline.record_now(&mut recorder, &self.simulation)?;
        device.submit(recorder)?;
        self.timeline.keep(state)
    }

    /// Pulls particles or a body during the next steps.
    pub fn pull(&mut self, pull: Option<Pull>) -> Result<(), Failure> {
        let was_pulled = self.simulation.grab.is_some() || self.pulled.is_some();
        match (&pull, was_pulled) {
            (Some(_), _) => self.timeline.pull(self.simulation.step()),
            (None, true) => self.keep_state()?,
            (None, false) => {}
        }
        self.simulation.grab = match &pull {
            Some(Pull::Particles(grab)) => Some(*grab),
            _ => None,
        };
        if let Some(Pull::Body { body, motion }) = pull {
            self.collect_completed(0)?;
            self.pulled = Some(body);
            if let Err(failure) = self.simulation.move_body(body, &motion) {
                self.parameters.show_error(&failure);
            }
        } else if let Some(body) = self.pulled.take() {
            let (step, time_s) = (self.simulation.step(), self.simulation.time_s());
            let (idx, body) = (body, &self.simulation.scene.bodies[body]);
            let [x, y, z] = BodyPose::at(body.motion.as_ref(), time_s).offset_m.to_array();
            let name = body.name.clone().unwrap_or(format!("bodies.{idx}"));
            say::note(format_args!(
                "step {step} ({time_s:.6} s): {name} pulled to a displacement of [{x:.4}, {y:.4}, {z:.4}] m"
            ));
        }
        Ok(())
    }

    /// Submits `steps` steps and a measurement of the state after them, and collects earlier results.
    pub fn advance(&mut self, steps: u64) -> Result<(), Failure> {
        let mut left = steps;
        while self.simulation.steps_at_once(left) < left {
            let first = self.simulation.steps_at_once(left);
            self.advance_at_once(first)?;
            left -= first;
        }
        self.advance_at_once(left)
    }

    fn advance_at_once(&mut self, steps: u64) -> Result<(), Failure> {
        self.collect_completed(MAX_IN_FLIGHT_LIVE - 1)?;
        let device = self.simulation.device.clone();
        let mut recorder = device.recorder_with(RecorderOptions { profile: true, ..Default::default() })?;
        self.simulation.record_steps(&mut recorder, steps);
        // Like in a run, displayed densities always match the displayed positions.
        let metrics = self.simulation.solver.record_metrics(&mut recorder)?;
        self.simulation.solver.record_output(&mut recorder);
        if let Some(bodies) = self.simulation.solver.rigid_bodies() {
            bodies.record_poses(&mut recorder);
        }
        let fault = self.simulation.solver.record_fault_check(&mut recorder)?;
        let state = self.timeline.record(&mut recorder, &self.simulation)?;
        let submission = device.submit(recorder)?;
        self.in_flight.push_back(InFlight {
            submission,
            metrics,
            fault,
            state,
            steps,
            step: self.simulation.step(),
            time_s: self.simulation.time_s(),
            substeps: self.simulation.varying_substeps(),
        });
        Ok(())
    }

    /// Collects results, waiting only while more than `leave` submissions are in flight. After an overflow it
    /// goes back to the last sound step.
    pub fn collect_completed(&mut self, leave: usize) -> Result<(), Failure> {
        while let Some(oldest) = self.in_flight.pop_front() {
            if self.in_flight.len() < leave && !oldest.submission.is_done()? {
                self.in_flight.push_front(oldest);
                break;
            }
            let mut measured = oldest.metrics.wait()?;
            measured.values.extend(oldest.substeps.map(f64::from));
            if let Some(fault) = oldest.fault.map(|fault| fault.wait()).transpose()?.flatten() {
                // Later submissions have changed nothing.
                for later in self.in_flight.drain(..) {
                    later.submission.wait()?;
                }
                say::note(self.simulation.recover(&fault)?);
                self.timeline.truncate(self.simulation.step());
                // Pictures and states to go back to are those between two steps.
                if self.simulation.is_within_step() {
                    self.advance_at_once(1)?;
                }
                break;
            }
            self.add_times(&oldest.submission.pass_times()?, oldest.steps);
            invariants::check_state(&measured.summary, oldest.step, self.simulation.n_expected())?;
            if let Some(state) = oldest.state {
                self.timeline.keep(state)?;
            }
            self.series.push(oldest.step, oldest.time_s, &measured);
            self.measured = Some(measured);
        }
        Ok(())
    }

    /// Returns the number of particles in the last measured state.
    pub fn n_particles(&self) -> usize {
        let measured = self.measured.as_ref().map(|measured| measured.summary.n_particles as usize);
        measured.unwrap_or(self.simulation.n_particles)
    }

    /// Returns the displayed numbers of the last metrics, with their labels.
    pub fn highlights(&self) -> Vec<(String, String)> {
        self.measured.as_ref().map_or_else(Vec::new, |measured| self.simulation.solver.highlights(measured))
    }

    /// Returns the bonds and contacts of a particle. It waits for the device.
    pub fn pairs_of(&self, id: u32) -> Result<Vec<PairsOfKind>, Failure> {
        let bodies = Surroundings::labels(&self.simulation.scene);
        Ok(PairsOfKind::group(&self.simulation.pairs_of(id)?, &bodies))
    }

    pub fn shown(&self) -> Shown<'_> {
        Shown::of(&*self.simulation.solver)
    }

    fn add_times(&mut self, times: &[PassTime], steps: u64) {
        if steps == 0 {
            return;
        }
        let mut sums: Vec<KernelTime> = Vec::new();
        for time in times {
            let ms_per_step = time.duration_ns / 1e6 / steps as f64;
            match sums.iter_mut().find(|sum| sum.kernel == time.name) {
                Some(sum) => sum.ms_per_step += ms_per_step,
                None => sums.push(KernelTime { kernel: time.name.clone(), ms_per_step }),
            }
        }
        for sum in sums {
            match self.kernels.iter_mut().find(|known| known.kernel == sum.kernel) {
                Some(known) => known.ms_per_step += SMOOTHING * (sum.ms_per_step - known.ms_per_step),
                None => self.kernels.push(sum),
            }
        }
    }
}
