//! `--vary`: the same steps with other values of a tunable, interleaved in one process.

use super::args::VaryArg;
use super::pass_log::Samples;
use crate::cli::interrupt;
use frazil_engine::Failure;
use frazil_engine::simulation::{Simulation, is_refusal};
use frazil_kernels::MultiplyAdd;
use frazil_report::{Candidate, Profile, Vary, median};
use frazil_scene::{Sampled, Scene};
use frazil_solvers::{SolverError, Tuning, factory_of};
use frazil_vk::{Device, RecorderOptions};

/// Number of rounds in which each value takes its steps, so that drift (clocks, other load) affects all
/// values alike.
const TURNS: u64 = 8;

/// Simulation with one value of a tunable, and the times of its steps.
pub struct Runner {
    simulation: Simulation,
    pub samples: Samples,
}

/// Returns an error for a tunable that the scene's solver does not have.
pub fn check_key(arg: &VaryArg, scene: &Scene) -> Result<(), Failure> {
    let factory = factory_of(scene)?;
    let names: Vec<&str> = factory.tunables().iter().map(|tunable| tunable.name).collect();
    if names.contains(&arg.tunable.name) {
        return Ok(());
    }
    let (kind, names) = (factory.kind(), names.join(", "));
    Err(Failure::input(format!(
        "--vary {}: no tunable of solver \"{kind}\", expected one of {names}",
        arg.tunable.name
    )))
}

/// Runs the scene with each value, `warm_up` steps and then `steps` that are timed; other tunables are those
/// of `base`. All of them are on the device at once.
pub fn vary(
    arg: &VaryArg,
    scene: &Scene,
    device: &Device,
    base: Tuning,
    warm_up: u64,
    steps: u64,
) -> Result<Vary, Failure> {
    let sampled = scene.sample()?;
    let mut runners: Vec<(u32, Result<Runner, String>)> = Vec::new();
    for &value in &arg.values {
        let tuning = base.with(arg.tunable, value).map_err(Failure::input)?;
        runners.push((value, Runner::new(device, scene, &sampled, tuning)?));
    }
    if let Some((value, Err(reason))) = runners.first()
        && runners.iter().all(|(_, runner)| runner.is_err())
    {
        return Err(Failure::input(format!(
            "--vary {}: this device takes none of the values; {value}: {reason}",
            arg.tunable.name
        )));
    }
    let mut ready: Vec<&mut Runner> = runners.iter_mut().filter_map(|(_, r)| r.as_mut().ok()).collect();
    MultiplyAdd::raise_clocks(device).map_err(SolverError::from)?;
    for runner in &mut ready {
        runner.take(warm_up, false)?;
    }
    let a_turn = steps.div_ceil(TURNS);
    let mut left = steps;
    while left > 0 {
        let n = a_turn.min(left);
        left -= n;
        for runner in &mut ready {
            runner.take(n, true)?;
        }
        // The order changes, so that no value is always first.
        ready.rotate_left(1);
    }
    let candidates = runners.into_iter().map(|(value, runner)| match runner {
        Ok(runner) => runner.candidate(value),
        Err(reason) => Ok(Candidate { value, refused: Some(reason), ..Default::default() }),
    });
    Ok(Vary { key: arg.tunable.name.to_owned(), candidates: candidates.collect::<Result<_, _>>()? })
}

/// Returns an error if a value changed any bit of the final state.
pub fn check_states(profile: &Profile) -> Result<(), Failure> {
    let Some(vary) = &profile.vary else { return Ok(()) };
    let differs = |c: &&Candidate| c.refused.is_none() && c.state_hash != profile.state_hash;
    match vary.candidates.iter().find(differs) {
        None => Ok(()),
        Some(candidate) => Err(Failure::invariant(format!(
            "{}={} ends in another state than the default: {} against {}",
            vary.key,
            candidate.value,
            candidate.state_hash.as_deref().unwrap_or("none"),
            profile.state_hash.as_deref().unwrap_or("none")
        ))),
    }
}

impl Runner {
    /// Creates the simulation in its initial state; the inner error is the reason why the device does not
    /// support the tuning.
    pub fn new(
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Result<Self, String>, Failure> {
        match Simulation::with_tuning(device, scene.clone(), sampled, tuning) {
            Ok(simulation) => Ok(Ok(Self { simulation, samples: Samples::default() })),
            Err(error) if is_refusal(&error) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the hash of the state after the steps taken.
    pub fn state_hash(&self) -> Result<String, Failure> {
        frazil_engine::snapshot::state_hash(&self.simulation)
    }

    /// Takes `n` steps and waits for them, so that no other runner's overlap them. An interrupt is an error.
    pub fn take(&mut self, n: u64, timed: bool) -> Result<(), Failure> {
        let device = self.simulation.device.clone();
        let max = u64::from(self.simulation.scene.solver.steps_per_submission);
        let last = self.simulation.step() + n;
        while self.simulation.step() < last {
            interrupt::check(format_args!("{} steps were taken", self.simulation.step()))?;
            let steps = self.simulation.steps_at_once(max.min(last - self.simulation.step()));
            let mut recorder =
                device.recorder_with(RecorderOptions { profile: timed, ..Default::default() })?;
            let step_ends = self.simulation.record_steps(&mut recorder, steps);
            let n_passes = recorder.pass_count() as usize;
            let fault = self.simulation.solver.record_fault_check(&mut recorder)?;
            let submission = device.submit(recorder)?;
            submission.wait()?;
            if self.simulation.roll_back_if_faulty(fault)? {
                continue;
            }
            if timed {
                let mut times = submission.pass_times()?;
                // Without the check for faults.
                times.truncate(n_passes);
                self.samples.add(&times, &step_ends);
            }
        }
        Ok(())
    }

    fn candidate(self, value: u32) -> Result<Candidate, Failure> {
        let median_of =
            |samples: &Vec<u64>| median(&mut samples.iter().map(|&ns| ns as f64).collect::<Vec<_>>()) as u64;
        Ok(Candidate {
            value,
            refused: None,
            kernels_ns: self
                .samples
                .by_kernel()
                .filter(|(_, ns)| !ns.is_empty())
                .map(|(name, ns)| (name.clone(), median_of(ns)))
                .collect(),
            step_samples_ns: self.samples.step_ns().to_vec(),
            state_hash: Some(self.state_hash()?),
        })
    }
}
