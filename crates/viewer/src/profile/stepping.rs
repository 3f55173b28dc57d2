//! Steps of a profile: like those of a run, without read-back.

use crate::failure::Failure;
use crate::profiling::{Activity, PassLog};
use crate::simulation::Simulation;
use frazil_vk::{RecorderOptions, Submission};
use std::collections::VecDeque;
use std::time::Instant;

/// Number of submissions in flight, as in a run.
const MAX_IN_FLIGHT: usize = 3;

/// Takes `n` steps like a run, without read-back, and with time stamps if there is a log for them.
pub fn steps(simulation: &mut Simulation, n: u64, mut passes: Option<&mut PassLog>) -> Result<(), Failure> {
    let device = simulation.device.clone();
    let options = RecorderOptions { profile: passes.is_some(), ..Default::default() };
    let max = u64::from(simulation.scene.solver.steps_per_submission);
    let mut in_flight: VecDeque<(Submission, Vec<u32>, u32)> = VecDeque::new();
    let mut left = n;
    while left > 0 || !in_flight.is_empty() {
        if left == 0 || in_flight.len() >= MAX_IN_FLIGHT {
            if let Some((oldest, step_ends, n_passes)) = in_flight.pop_front() {
                let begin = Instant::now();
                oldest.wait()?;
                if let Some(passes) = passes.as_deref_mut() {
                    passes.host(Activity::Wait, begin);
                    let begin = Instant::now();
                    passes.submission(&oldest.pass_times()?, &step_ends, n_passes);
                    passes.host(Activity::Collect, begin);
                }
            }
            continue;
        }
        let begin = Instant::now();
        let steps = max.min(left);
        left -= steps;
        let mut recorder = device.recorder_with(options)?;
        let step_ends = simulation.record_steps(&mut recorder, steps);
        let n_passes = recorder.pass_count();
        if let Some(passes) = passes.as_deref_mut() {
            passes.host(Activity::Record, begin);
        }
        let begin = Instant::now();
        in_flight.push_back((device.submit(recorder)?, step_ends, n_passes));
        if let Some(passes) = passes.as_deref_mut() {
            passes.host(Activity::Submit, begin);
        }
    }
    Ok(())
}
