//! Conversion of the state to saved columns, and back.

use super::Snow;
use crate::Solver;
use crate::pbd::snow::phase_particles::InitialState;
use crate::pbd::snow::terms::SnowParameters;
use crate::{Saved, SolverError, StateColumn, Tuning};
use frazil_scene::Scene;
use frazil_vk::Device;

impl Snow {
    /// Restores the snow and water of a scene from the state saved after `step` steps, bit for bit. Set-up
    /// only: waits for the device.
    ///
    /// # Errors
    /// Like [`Self::new`]; also a column that is missing or has another length.
    pub fn restore(
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let saved = Saved::new(state)?;
        let parameters = SnowParameters::of(scene)?;
        let phases = saved.of("phase", 1)?;
        let n = phases.len();
        let n_solid = phases.iter().take_while(|phase| **phase == 1).count();
        if phases[n_solid..].iter().any(|phase| *phase != 0) {
            let problem = "expected ones, then zeros".to_owned();
            return Err(SolverError::State { column: "phase".to_owned(), problem });
        }
        let (solid, fluid) = (InitialState::of_length(n_solid), InitialState::of_length(n - n_solid));
        let snow = Self::with_initial_state(device, scene, parameters, [&solid, &fluid], tuning, step)?;
        let mut recorder = device.recorder()?;
        for (phase_particles, rows) in [(&snow.solid, 0..n_solid), (&snow.fluid, n_solid..n)] {
            phase_particles.table.restore_rows(&saved, rows)?;
            let count = &phase_particles.phase.count;
            phase_particles.grid.record_cell_ranges(&mut recorder, count, phase_particles.key());
        }
        snow.output.table().restore_arrays(&saved)?;
        snow.record_output(&mut recorder);
        device.submit(recorder)?.wait()?;
        Ok(snow)
    }
}

impl InitialState {
    /// Returns the state of `n` particles whose values are uploaded later.
    fn of_length(n: usize) -> Self {
        Self { id: vec![0; n], ..Self::default() }
    }
}
