//! Steps and measurements of a simulation that writes no outputs while it runs.

mod pace;

pub use pace::Pace;

use crate::energy_limit::EnergyLimit;
use crate::failure::Failure;
use crate::invariants;
use crate::simulation::Simulation;
use frazil_solvers::{Measurement, PendingFault};
use frazil_vk::Submission;
use std::collections::VecDeque;
use std::time::Instant;

/// Maximum number of submissions in flight: one runs, one is queued behind it, one is being recorded.
pub const MAX_IN_FLIGHT: usize = 3;
/// The same of a window, where each submission in flight adds to the latency of an input: one runs while the
/// next is recorded.
pub const MAX_IN_FLIGHT_LIVE: usize = 2;

struct InFlight {
    submission: Submission,
    steps: u32,
    /// Faults found by its steps, if the solver detects them.
    fault: Option<PendingFault>,
}

/// Takes steps up to step `last`, or until `stop`, which is asked between two submissions, returns true. The
/// steps taken are then sound: it waits for the device, and [recovers](Simulation::recover) from overflows.
///
/// # Errors
/// A fault that is no overflow; the device was lost.
pub fn advance(
    simulation: &mut Simulation,
    last: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<(), Failure> {
    let device = simulation.device.clone();
    let mut pace = Pace::default();
    let mut in_flight = VecDeque::with_capacity(MAX_IN_FLIGHT);
    let mut retired = Instant::now();
    let mut is_stopped = false;
    loop {
        let is_done = is_stopped && !simulation.is_within_step() || simulation.step() >= last;
        let n_left = if is_done { 0 } else { MAX_IN_FLIGHT - 1 };
        let mut found = None;
        while in_flight.len() > n_left && found.is_none() {
            let Some(InFlight { submission, steps, fault }) = in_flight.pop_front() else { break };
            submission.wait()?;
            pace.took(retired.elapsed(), steps);
            retired = Instant::now();
            found = fault.map(|fault: PendingFault| fault.wait()).transpose()?.flatten();
        }
        if let Some(fault) = found {
            // Later submissions have changed nothing.
            for later in in_flight.drain(..) {
                later.submission.wait()?;
            }
            simulation.recover(&fault)?;
            retired = Instant::now();
            continue;
        }
        if is_done {
            return Ok(device.check_validation()?);
        }
        is_stopped = is_stopped || stop();
        if is_stopped && !simulation.is_within_step() {
            continue;
        }
        let max = if is_stopped { 1 } else { u64::from(simulation.scene.solver.steps_per_submission) };
        let n = simulation.steps_at_once(pace.steps(max).min(last - simulation.step()));
        let mut recorder = device.recorder()?;
        simulation.record_steps(&mut recorder, n);
        let fault = simulation.solver.record_fault_check(&mut recorder)?;
        in_flight.push_back(InFlight { submission: device.submit(recorder)?, steps: n as u32, fault });
        device.check_validation()?;
    }
}

/// Measures the state, and updates the densities that are shown to its positions. It waits for the device.
///
/// # Errors
/// The state is invalid; the device was lost.
pub fn measure(simulation: &Simulation, energy: &mut EnergyLimit) -> Result<Measurement, Failure> {
    let mut recorder = simulation.device.recorder()?;
    let pending = simulation.solver.record_metrics(&mut recorder)?;
    simulation.device.submit(recorder)?;
    let mut measurement = pending.wait()?;
    measurement.values.extend(simulation.varying_substeps().map(f64::from));
    // No invariant holds of what was not computed.
    if !simulation.device.is_dry_run() {
        invariants::check_state(&measurement.summary, simulation.step(), simulation.n_expected())?;
        energy.check(&simulation.scene, simulation.step(), &measurement)?;
    }
    Ok(measurement)
}
