//! Steps of a profile: like those of a run, without read-back of the state.

use super::pass_log::PassLog;
use crate::cli::interrupt;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::outputs::{Activity, StepTimer, TimedSubmission};
use frazil_engine::stepping::MAX_IN_FLIGHT;
use frazil_solvers::PendingFault;
use frazil_vk::{RecorderOptions, Submission};
use std::collections::VecDeque;
use std::time::Instant;

struct InFlight {
    submission: Submission,
    step_ends: Vec<u32>,
    last_step: u64,
    n_passes: u32,
    fault: Option<PendingFault>,
}

/// Takes `n` steps like a run, without read-back of the state, and with time stamps if there is a log for
/// them. An interrupt is an error. Submissions in which a record overflows are not in the log; their steps
/// are repeated.
pub fn steps(simulation: &mut Simulation, n: u64, passes: Option<&mut PassLog>) -> Result<(), Failure> {
    let options = RecorderOptions { profile: passes.is_some(), ..Default::default() };
    let max = simulation.scene.solver.steps_per_submission;
    steps_with(simulation, n, max.into(), options, passes.map(|log| log as &mut dyn StepTimer))
}

/// Takes steps like [`steps`], each in a submission of its own, with the counters of the device's session.
pub fn counted_steps(simulation: &mut Simulation, n: u64, log: &mut dyn StepTimer) -> Result<(), Failure> {
    let options = RecorderOptions { profile: true, counters: true, ..Default::default() };
    steps_with(simulation, n, 1, options, Some(log))
}

fn steps_with(
    simulation: &mut Simulation,
    n: u64,
    max: u64,
    options: RecorderOptions,
    mut passes: Option<&mut dyn StepTimer>,
) -> Result<(), Failure> {
    let device = simulation.device.clone();
    let mut in_flight: VecDeque<InFlight> = VecDeque::new();
    let last = simulation.step() + n;
    while simulation.step() < last || !in_flight.is_empty() {
        interrupt::check(format_args!("{} steps were taken", simulation.step()))?;
        if simulation.step() == last || in_flight.len() >= MAX_IN_FLIGHT {
            if let Some(InFlight { submission, step_ends, last_step, n_passes, fault }) =
                in_flight.pop_front()
            {
                let number = submission.value();
                let begin = Instant::now();
                submission.wait()?;
                if let Some(passes) = passes.as_deref_mut() {
                    passes.host(Activity::Wait, begin, Some(number));
                }
                if simulation.roll_back_if_faulty(fault)? {
                    in_flight.clear();
                    continue;
                }
                if let Some(passes) = passes.as_deref_mut() {
                    let begin = Instant::now();
                    let mut times = submission.pass_times()?;
                    // Without the check for faults.
                    times.truncate(n_passes as usize);
                    let (times, step_ends) = (&times[..], &step_ends[..]);
                    passes.submission(&TimedSubmission { number, last_step, times, step_ends, n_passes });
                    passes.host(Activity::Collect, begin, Some(number));
                }
            }
            continue;
        }
        let begin = Instant::now();
        let steps = simulation.steps_at_once(max.min(last - simulation.step()));
        let mut recorder = device.recorder_with(options)?;
        let step_ends = simulation.record_steps(&mut recorder, steps);
        let n_passes = recorder.pass_count();
        let fault = simulation.solver.record_fault_check(&mut recorder)?;
        if let Some(passes) = passes.as_deref_mut() {
            passes.host(Activity::Record, begin, None);
        }
        let begin = Instant::now();
        let submission = device.submit(recorder)?;
        if let Some(passes) = passes.as_deref_mut() {
            passes.host(Activity::Submit, begin, Some(submission.value()));
        }
        let last_step = simulation.step();
        in_flight.push_back(InFlight { submission, step_ends, last_step, n_passes, fault });
    }
    Ok(())
}
