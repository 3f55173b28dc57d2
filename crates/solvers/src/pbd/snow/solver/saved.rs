//! Conversion of the state to saved columns, and back.

use super::Snow;
use crate::Solver;
use crate::pbd::snow::phase_particles::{InitialState, TRANSITION_WORDS};
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
        let all = InitialState {
            position: saved.vectors("position")?,
            velocity: saved.vectors("velocity")?,
            id: saved.ids.to_vec(),
            temperature_c: saved.numbers("temperature")?,
            enthalpy_j_kg: saved.numbers("enthalpy")?,
            blend: saved.numbers("blend")?,
            rest_position: saved.vectors("rest position")?,
        };
        let (solid, fluid) = (all.part(0..n_solid), all.part(n_solid..n));
        let snow = Self::with_initial_state(device, scene, parameters, [&solid, &fluid], tuning, step)?;
        let (keys, densities) = (saved.of("key", 1)?, saved.of("density", 1)?);
        let mut recorder = device.recorder()?;
        for (phase_particles, range) in [(&snow.solid, 0..n_solid), (&snow.fluid, n_solid..n)] {
            device.upload(&phase_particles.key, &keys[range.clone()])?;
            device.upload(&phase_particles.density.cast(), &densities[range])?;
            phase_particles.grid.record_cell_ranges(
                &mut recorder,
                &phase_particles.phase.count,
                &phase_particles.key,
            );
        }
        let bonds = snow.links.bonds();
        let links = [
            ("link degree", bonds.degree().clone()),
            ("link partner", bonds.partner().clone()),
            ("link rest length", bonds.rest_length_m().cast()),
        ];
        for (name, buffer) in links {
            device.upload(&buffer, saved.whole(name, buffer.len())?)?;
        }
        device.upload(&snow.solid.transition_counts, saved.whole("melted", TRANSITION_WORDS)?)?;
        device.upload(&snow.fluid.transition_counts, saved.whole("frozen", TRANSITION_WORDS)?)?;
        if let Some(bodies) = &snow.bodies {
            bodies.restore(device, &saved)?;
        }
        snow.record_output(&mut recorder);
        device.submit(recorder)?.wait()?;
        Ok(snow)
    }
}

impl InitialState {
    fn part(&self, range: std::ops::Range<usize>) -> Self {
        Self {
            position: self.position[range.clone()].to_vec(),
            velocity: self.velocity[range.clone()].to_vec(),
            id: self.id[range.clone()].to_vec(),
            temperature_c: self.temperature_c[range.clone()].to_vec(),
            enthalpy_j_kg: self.enthalpy_j_kg[range.clone()].to_vec(),
            blend: self.blend[range.clone()].to_vec(),
            rest_position: self.rest_position[range].to_vec(),
        }
    }
}
