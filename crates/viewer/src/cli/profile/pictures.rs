//! Rate of steps and pictures together, as on a screen: a picture after each step, read back, not written.

use crate::cli::interrupt;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::picture::Camera;
use frazil_engine::stepping::MAX_IN_FLIGHT;
use frazil_report::Pictures;
use frazil_vk::ReadbackRing;
use std::collections::VecDeque;
use std::time::Instant;

/// Draws `n` pictures, each after a step; again if a record overflowed, since steps then did nothing.
pub fn measure(simulation: &mut Simulation, n: u64) -> Result<Pictures, Failure> {
    loop {
        let pictures = draw(simulation, n)?;
        let mut recorder = simulation.device.recorder()?;
        let fault = simulation.solver.record_fault_check(&mut recorder)?;
        simulation.device.submit(recorder)?;
        if !simulation.roll_back_if_faulty(fault)? {
            return Ok(pictures);
        }
    }
}

fn draw(simulation: &mut Simulation, n: u64) -> Result<Pictures, Failure> {
    let device = simulation.device.clone();
    let ring = ReadbackRing::new(&device);
    let mut camera = Camera::new(simulation)?;
    let mut begin = Instant::now();
    let mut pending = VecDeque::new();
    for index in 0..=n {
        interrupt::check(format_args!("{index} pictures were drawn"))?;
        // The first picture compiles kernels and finds capacities.
        if index == 1 {
            device.wait_idle()?;
            begin = Instant::now();
        }
        let mut recorder = device.recorder()?;
        simulation.record_steps(&mut recorder, 1);
        if camera.needs_readback(&*simulation.solver) {
            device.submit(recorder)?;
            recorder = device.recorder()?;
        }
        pending.push_back(camera.record(&mut recorder, &ring, simulation, index)?);
        device.submit(recorder)?;
        if pending.len() >= MAX_IN_FLIGHT
            && let Some(oldest) = pending.pop_front()
        {
            oldest.wait()?;
        }
    }
    for picture in pending {
        picture.wait()?;
    }
    let wall_ns = begin.elapsed().as_nanos() as u64;
    let [ground_triangles, surface_triangles] = camera.triangles();
    Ok(Pictures {
        scheme: simulation.scene.render.scheme.name().to_owned(),
        width_px: simulation.scene.render.width_px,
        height_px: simulation.scene.render.height_px,
        pictures: n,
        wall_ns,
        ground_triangles,
        surface_triangles,
    })
}
