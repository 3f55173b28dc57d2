//! Cost of time stamps: the same number of steps with and without them.

use super::pass_log::PassLog;
use super::stepping::steps;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_report::Stamping;
use std::time::Instant;

/// Number of turns with each: drift (clocks, other load) affects both alike.
const TURNS: u64 = 4;

/// Takes about half of `n` steps with time stamps and as many without, in turns.
pub fn compare(simulation: &mut Simulation, n: u64) -> Result<Stamping, Failure> {
    let device = simulation.device.clone();
    let a_turn = n.div_ceil(2 * TURNS);
    let mut log = PassLog::without_bandwidth();
    let mut time = |is_stamped: bool| -> Result<u64, Failure> {
        let begin = Instant::now();
        steps(simulation, a_turn, is_stamped.then_some(&mut log))?;
        device.wait_idle()?;
        Ok(begin.elapsed().as_nanos() as u64)
    };
    let mut total = Stamping { steps: TURNS * a_turn, stamped_ns: 0, unstamped_ns: 0 };
    for turn in 0..TURNS {
        // The order changes, so that neither is always first.
        for is_stamped in [turn % 2 == 0, turn % 2 == 1] {
            let sum = if is_stamped { &mut total.stamped_ns } else { &mut total.unstamped_ns };
            *sum += time(is_stamped)?;
        }
    }
    Ok(total)
}
