//! Scenes in which particles enter and leave, stepped like a user's run.

use frazil_particles::ColumnView;
use frazil_scene::{Sampled, Scene};
use frazil_shaders::types::Emission;
use frazil_solvers::{Regrown, Solver, SolverError, StateColumn};
use frazil_testkit::device;
use frazil_vk::Device;

/// Steps per submission.
const STEPS_AT_ONCE: u64 = 32;

/// A scene with emitters or drains on the device.
pub struct Flow<S> {
    /// Device.
    pub device: Device,
    /// Scene with its overrides.
    pub scene: Scene,
    /// Solver.
    pub solver: S,
    /// Completed steps.
    pub step: u64,
    /// Completed substeps of the next step.
    pub substeps: u32,
}

impl<S: Solver> Flow<S> {
    /// Makes the simulation of a scene file's text with overrides.
    ///
    /// # Panics
    /// If the scene or the device reports an error.
    #[allow(clippy::expect_used)]
    pub fn new(
        text: &str,
        overrides: &[&str],
        of_scene: impl FnOnce(&Device, &Scene, &Sampled) -> Result<S, SolverError>,
    ) -> Self {
        let device = device();
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let scene = Scene::parse(text, "flow.toml", &overrides).expect("a sound scene");
        let sampled = scene.sample().expect("particles that fit");
        let solver = of_scene(&device, &scene, &sampled).expect("a simulation that fits the device");
        Self { device, scene, solver, step: 0, substeps: 0 }
    }

    /// Takes steps, and goes on with larger records where one overflows; returns what grew.
    ///
    /// # Panics
    /// On a device error or another fault.
    #[allow(clippy::expect_used)]
    pub fn advance(&mut self, steps: u64) -> Vec<Regrown> {
        let (last, mut grown) = (self.step + steps, Vec::new());
        while self.step < last {
            let n = (last - self.step).min(STEPS_AT_ONCE);
            let mut recorder = self.device.recorder().expect("a recorder");
            let substeps = n * u64::from(self.scene.substeps()) - u64::from(self.substeps);
            (0..substeps).for_each(|_| self.solver.record_step(&mut recorder));
            let check = self.solver.record_fault_check(&mut recorder).expect("a read-back");
            self.device.submit(recorder).expect("a submission");
            (self.step, self.substeps) = (self.step + n, 0);
            if let Some(fault) = check.expect("a check").wait().expect("a record") {
                let regrown = self.solver.regrow(&self.device).expect("room for larger records");
                let regrown = regrown.unwrap_or_else(|| panic!("{fault}"));
                assert!(regrown.place.step < self.step && regrown.to > regrown.from, "{regrown}");
                (self.step, self.substeps) = (regrown.place.step, regrown.place.substeps);
                grown.push(regrown);
            }
        }
        grown
    }

    /// Returns the number of particles.
    ///
    /// # Panics
    /// If the device is lost, or the number is constant.
    #[allow(clippy::expect_used)]
    pub fn n_particles(&self) -> usize {
        let count = self.solver.varying_count().expect("emitters or drains");
        self.device.download(&count.count, 1).expect("a number")[0] as usize
    }

    /// Returns the counts of the run.
    ///
    /// # Panics
    /// If the device is lost, or nothing enters or leaves.
    #[allow(clippy::expect_used)]
    pub fn counts(&self) -> Emission {
        let columns = self.columns();
        let counts = columns.iter().find(|column| column.name == "emission").expect("counts");
        bytemuck::cast_slice(&counts.words)[0]
    }

    /// Updates the state columns, and downloads those of the particles that there are.
    ///
    /// # Panics
    /// If the device is lost.
    #[allow(clippy::expect_used)]
    pub fn columns(&self) -> Vec<StateColumn> {
        let mut recorder = self.device.recorder().expect("a recorder");
        self.solver.record_output(&mut recorder);
        self.device.submit(recorder).expect("a submission");
        let n = self.n_particles();
        let of_column = |column: &ColumnView| {
            let words = column.kind.words() as usize;
            let len = if column.is_of_particles { n * words } else { column.words.len() };
            let words = self.device.download(&column.words, len).expect("a column");
            StateColumn { name: column.name.to_string(), words }
        };
        self.solver.state_columns().iter().map(of_column).collect()
    }
}
