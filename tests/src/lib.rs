//! What the cross-crate tests share: a device with validation on, a simulation, and the end of every test that uses them.

use frazil_scene::Scene;
use frazil_solvers::pbd::{Fluid, FluidMetrics};
use frazil_vk::{Device, DeviceOptions};

/// Opens the test device with core and synchronization validation.
///
/// # Panics
/// If there is no device: tests that cannot run must fail. `tools/setup` installs a software device.
#[allow(clippy::expect_used)]
pub fn device() -> Device {
    let options = DeviceOptions { validation: true, ..Default::default() };
    Device::open(&options).expect("a Vulkan device with validation layers; tools/setup installs both")
}

/// Fails if the validation layers said anything.
///
/// # Panics
/// With the first message.
pub fn assert_no_validation_messages(device: &Device) {
    let messages = device.validation().messages();
    assert!(
        messages.is_empty(),
        "{} validation messages, the first: {:#?}",
        messages.len(),
        messages.first()
    );
}

/// A simulation of a built-in scene, stepped as a user's run is: several steps a submission, no wait between them.
pub struct Simulation {
    /// The device.
    pub device: Device,
    /// The scene with its overrides.
    pub scene: Scene,
    /// The fluid.
    pub fluid: Fluid,
    /// Steps so far.
    pub step: u64,
}

impl Simulation {
    /// Sets a built-in scene up.
    ///
    /// # Panics
    /// If anything refuses.
    #[allow(clippy::expect_used)]
    pub fn new(scene: &str, overrides: &[&str]) -> Self {
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        let scene = Scene::find(scene, &overrides).expect("a scene that loads");
        let device = device();
        let sampled = scene.sample().expect("a scene that can be sampled");
        let fluid = Fluid::new(&device, &scene, &sampled).expect("a fluid that fits");
        Self { device, scene, fluid, step: 0 }
    }

    /// Particles in the scene.
    pub fn len(&self) -> usize {
        self.fluid.count().capacity as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Simulated time in s.
    pub fn time_s(&self) -> f64 {
        self.step as f64 * self.scene.time.dt_s
    }

    /// Advances by `steps` and measures.
    ///
    /// # Panics
    /// If the device refuses.
    #[allow(clippy::expect_used)]
    pub fn advance(&mut self, steps: u64) -> FluidMetrics {
        let mut left = steps;
        loop {
            let mut recorder = self.device.recorder().expect("a recorder");
            let now = left.min(u64::from(self.scene.solver.steps_per_submission));
            for _ in 0..now {
                self.fluid.record_step(&mut recorder);
            }
            left -= now;
            if left > 0 {
                self.device.submit(recorder).expect("a submission");
                continue;
            }
            let pending = self.fluid.record_metrics(&mut recorder).expect("a read-back");
            self.device.submit(recorder).expect("a submission");
            self.step += steps;
            return pending.wait().expect("metrics");
        }
    }

    /// Positions in m, in the device's order.
    ///
    /// # Panics
    /// If the device is lost.
    #[allow(clippy::expect_used)]
    pub fn positions(&self) -> Vec<[f32; 3]> {
        self.device.download(self.fluid.position(), self.len()).expect("positions")
    }

    /// A column of numbers by name, in the device's order.
    ///
    /// # Panics
    /// If there is none of that name.
    #[allow(clippy::expect_used)]
    pub fn words(&self, name: &str) -> Vec<u32> {
        let columns = self.fluid.state_columns();
        let column = columns.iter().find(|c| c.name == name).expect("a column of that name");
        self.device.download(&column.words, self.len() * column.kind.words() as usize).expect("a column")
    }
}
