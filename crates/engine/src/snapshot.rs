//! The state of a simulation, read to the host.

use crate::failure::Failure;
use crate::invariants;
use crate::simulation::Simulation;
use crate::state;
use frazil_io::Frame;
use frazil_vk::{Device, ReadbackRing};

/// Returns the hash of the state columns, in the device's order. It waits for the device, which has no more
/// steps to run.
///
/// # Errors
/// Like [`read_frame`].
pub fn state_hash(simulation: &Simulation) -> Result<String, Failure> {
    Ok(read_frame(simulation)?.state_hash())
}

/// Downloads the state columns. It waits for the device.
pub fn read_frame(simulation: &Simulation) -> Result<Frame, Failure> {
    let device: &Device = &simulation.device;
    let mut recorder = device.recorder()?;
    let ring = ReadbackRing::new(device);
    simulation.solver.record_output(&mut recorder);
    let solver = &simulation.solver;
    let columns = state::read_columns(&ring, &mut recorder, &solver.columns(), solver.varying_count())?;
    let bodies = state::read_columns(&ring, &mut recorder, &simulation.body_columns(), None)?;
    let fault = simulation.solver.record_fault_check(&mut recorder)?;
    device.submit(recorder)?;
    if let Some(fault) = fault {
        invariants::check_fault(fault.wait()?)?;
    }
    let columns = columns.into_iter().map(state::PendingColumn::wait).collect::<Result<Vec<_>, _>>()?;
    let bodies = bodies.into_iter().map(state::PendingColumn::wait).collect::<Result<Vec<_>, _>>()?;
    state::frame(simulation.step(), simulation.time_s(), &columns, &bodies)
}
