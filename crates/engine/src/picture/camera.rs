//! Pictures of a run, read back for writing.

use super::painter::{Painter, camera, property};
use super::shown::Shown;
use crate::failure::Failure;
use crate::simulation::Simulation;
use frazil_render::{OrbitCamera, Pixels};
use frazil_scene::{Render, Scene};
use frazil_solvers::Solver;
use frazil_vk::{Pending, ReadbackRing, Recorder};

/// A picture as drawn by the device.
pub struct Picture {
    /// Number of the picture.
    pub index: u64,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Pixels as packed RGBA8, row by row from the top.
    pub pixels: Vec<u32>,
}

/// Camera of a run, which does not move.
pub struct Camera {
    painter: Painter,
    camera: OrbitCamera,
    colour_by: String,
    render: Render,
}

/// A pending picture.
pub struct PendingPicture {
    index: u64,
    size: (u32, u32),
    pixels: Pending<u32>,
}

impl Camera {
    /// Creates the camera of the simulation's scene.
    ///
    /// # Errors
    /// A property or a surface that the scene does not have; out of memory.
    pub fn new(simulation: &Simulation) -> Result<Self, Failure> {
        Self::with_scene(simulation, &simulation.scene)
    }

    /// Creates the camera of a scene that differs from the simulation's in `[render]` alone.
    pub fn with_scene(simulation: &Simulation, scene: &Scene) -> Result<Self, Failure> {
        let painter = Painter::new(&simulation.device, scene, simulation.n_particles)?;
        let colour_by = property(scene).to_owned();
        Ok(Self { painter, camera: camera(scene), colour_by, render: scene.render.clone() })
    }

    /// Returns true if a picture requires results on the host, so that the steps before it must be submitted
    /// first.
    pub fn needs_readback(&self, solver: &dyn Solver) -> bool {
        self.painter.waits() || self.needs_range(solver)
    }

    fn needs_range(&self, solver: &dyn Solver) -> bool {
        self.painter.needs_range(&Shown::of(solver), &self.colour_by)
    }

    /// Returns the number of triangles of the ground and of the surfaces in the last picture.
    pub fn triangles(&self) -> [u64; 2] {
        self.painter.triangles(&self.camera)
    }

    /// Records picture number `index`, of the state at this point of the recorder.
    ///
    /// # Errors
    /// Out of memory, or the device was lost.
    pub fn record(
        &mut self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        simulation: &Simulation,
        index: u64,
    ) -> Result<PendingPicture, Failure> {
        let solver = &*simulation.solver;
        if self.needs_readback(solver) {
            // Surfaces and ranges are those of columns on the device, before this recorder is submitted.
            let mut columns = simulation.device.recorder()?;
            solver.record_output(&mut columns);
            simulation.device.submit(columns)?;
        }
        solver.record_output(recorder);
        if let Some(bodies) = solver.rigid_bodies() {
            bodies.record_poses(recorder);
        }
        if self.render == simulation.scene.render {
            self.painter.set_scene(&simulation.scene);
        } else {
            let mut scene = simulation.scene.clone();
            scene.render = self.render.clone();
            self.painter.set_scene(&scene);
        }
        let (shown, time_s) = (Shown::of(solver), simulation.time_s());
        let image = self.painter.record(recorder, &shown, self.camera, &self.colour_by, time_s)?;
        Ok(PendingPicture { index, size: image.size(), pixels: ring.read_image(recorder, image)? })
    }
}

impl PendingPicture {
    /// Returns the number of the picture.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Waits for the picture.
    ///
    /// # Errors
    /// The device was lost.
    pub fn wait(self) -> Result<Picture, Failure> {
        let (width, height) = self.size;
        Ok(Picture { index: self.index, width, height, pixels: self.pixels.wait()? })
    }
}

/// Draws the current state. It waits for the device.
///
/// # Errors
/// Like [`Camera::new`]; the device was lost.
pub fn draw(simulation: &Simulation) -> Result<Pixels, Failure> {
    draw_with(simulation, &mut Camera::new(simulation)?)
}

/// Draws the current state as a camera sees it. It waits for the device.
pub fn draw_with(simulation: &Simulation, camera: &mut Camera) -> Result<Pixels, Failure> {
    let ring = ReadbackRing::new(&simulation.device);
    let mut recorder = simulation.device.recorder()?;
    let picture = camera.record(&mut recorder, &ring, simulation, 0)?;
    simulation.device.submit(recorder)?;
    let Picture { width, height, pixels, .. } = picture.wait()?;
    Ok(Pixels { width, height, pixels })
}
