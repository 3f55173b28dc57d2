//! Columns of a solver on the host.

use frazil_particles::ColumnView;
use frazil_solvers::{Solver, StateColumn};
use frazil_vk::{Device, Result};

/// Downloads columns, as a checkpoint has them.
///
/// # Errors
/// The device was lost; not enough memory.
pub fn download_columns(device: &Device, columns: &[ColumnView]) -> Result<Vec<StateColumn>> {
    let download = |column: &ColumnView| {
        let words = device.download(&column.words, column.words.len())?;
        Ok(StateColumn { name: column.name.to_string(), words })
    };
    columns.iter().map(download).collect()
}

/// Updates the state columns of a solver and downloads them, as a checkpoint has them.
///
/// # Errors
/// The device was lost; not enough memory.
pub fn saved_state(device: &Device, solver: &dyn Solver) -> Result<Vec<StateColumn>> {
    let mut recorder = device.recorder()?;
    solver.record_output(&mut recorder);
    device.submit(recorder)?;
    download_columns(device, &solver.state_columns())
}
