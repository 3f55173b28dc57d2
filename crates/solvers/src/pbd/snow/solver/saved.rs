//! The state as saved columns, and back.

use super::Snow;
use crate::SolverError;
use crate::pbd::bodies::{self, Bodies};
use crate::pbd::fluid::StateColumn;
use crate::pbd::snow::matter::{Beginning, TALLY_WORDS};
use crate::pbd::snow::terms::SnowParameters;
use crate::pbd::tuning::Tuning;
use frazil_particles::{ColumnKind, ColumnView};
use frazil_scene::Scene;
use frazil_vk::Device;

impl Snow {
    /// Everything that the next step depends on: the columns shown; of those not shown one element a particle, too; and the links,
    /// with as many words as their buffers have.
    pub fn state_columns(&self) -> Vec<ColumnView> {
        let records = self.links.records();
        let extra = |name, words| ColumnView { name, unit: "1", kind: ColumnKind::U32, words };
        let mut columns = self.columns();
        columns.extend_from_slice(self.output.hidden_columns());
        columns.extend([
            extra("link degree", records.degree().clone()),
            extra("link partner", records.partner().clone()),
            extra("link rest length", records.rest_length_m().cast()),
            extra("melted", self.solid.tally.clone()),
            extra("frozen", self.fluid.tally.clone()),
        ]);
        columns.extend(self.bodies.as_ref().map(Bodies::state_columns).unwrap_or_default());
        columns
    }

    /// Makes the snow and water of a scene in a saved state, with the bits it had. Set-up: it waits for the device.
    ///
    /// # Errors
    /// As [`Self::new`]; a column is missing or has another length.
    pub fn restore(device: &Device, scene: &Scene, state: &[StateColumn]) -> Result<Self, SolverError> {
        let saved = Saved { columns: state };
        let parameters = SnowParameters::of(scene)?;
        let phases = saved.find("phase", None)?;
        let n = phases.len();
        let n_solid = phases.iter().take_while(|phase| **phase == 1).count();
        if phases[n_solid..].iter().any(|phase| *phase != 0) {
            let problem = "expected ones, then zeros".to_owned();
            return Err(SolverError::State { column: "phase".to_owned(), problem });
        }
        let vectors = |name| {
            Ok::<Vec<[f32; 3]>, SolverError>(bytemuck::pod_collect_to_vec(saved.find(name, Some(3 * n))?))
        };
        let numbers =
            |name| Ok::<Vec<f32>, SolverError>(bytemuck::pod_collect_to_vec(saved.find(name, Some(n))?));
        let all = Beginning {
            position: vectors("position")?,
            velocity: vectors("velocity")?,
            id: saved.find("id", Some(n))?.to_vec(),
            temperature_c: numbers("temperature")?,
            enthalpy_j_kg: numbers("enthalpy")?,
            blend: numbers("blend")?,
            rest_position: vectors("rest position")?,
        };
        let (solid, fluid) = (all.part(0..n_solid), all.part(n_solid..n));
        let snow = Self::with_beginning(device, scene, parameters, &solid, &fluid, Tuning::default())?;
        let (keys, densities) = (saved.find("key", Some(n))?, saved.find("density", Some(n))?);
        let mut recorder = device.recorder()?;
        for (matter, range) in [(&snow.solid, 0..n_solid), (&snow.fluid, n_solid..n)] {
            device.upload(&matter.key, &keys[range.clone()])?;
            device.upload(&matter.density.cast(), &densities[range])?;
            matter.grid.record_cell_ranges(&mut recorder, &matter.phase.count, &matter.key);
        }
        let records = snow.links.records();
        let links = [
            ("link degree", records.degree().clone()),
            ("link partner", records.partner().clone()),
            ("link rest length", records.rest_length_m().cast()),
        ];
        for (name, buffer) in links {
            device.upload(&buffer, saved.find(name, Some(buffer.len()))?)?;
        }
        device.upload(&snow.solid.tally, saved.find("melted", Some(TALLY_WORDS))?)?;
        device.upload(&snow.fluid.tally, saved.find("frozen", Some(TALLY_WORDS))?)?;
        bodies::restore(device, snow.bodies.as_ref(), |name, words| saved.find(name, Some(words)))?;
        snow.record_output(&mut recorder);
        device.submit(recorder)?.wait()?;
        Ok(snow)
    }
}

impl Beginning {
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

/// Saved columns, by name.
struct Saved<'a> {
    columns: &'a [StateColumn],
}

impl<'a> Saved<'a> {
    fn find(&self, name: &str, words: Option<usize>) -> Result<&'a [u32], SolverError> {
        let error = |problem| SolverError::State { column: name.to_owned(), problem };
        let column = self.columns.iter().find(|column| column.name == name);
        let column = column.ok_or_else(|| error("is missing".to_owned()))?;
        match words {
            Some(words) if words != column.words.len() => {
                Err(error(format!("has {} words, expected {words}", column.words.len())))
            }
            _ => Ok(&column.words),
        }
    }
}
