//! Time of the surface around particles, for the comparison with splashsurf (`tools/peers surface`).
//!
//! `cargo run --release -p frazil-bench --bin particle_surface -- FILE SPACING_M CELL_M REPETITIONS`
//!
//! The file holds positions in m, three f32 each. Prints a line of JSON: the median time in ms until the mesh
//! is in the host's memory, and what it is.

use frazil_kernels::Counts;
use frazil_reference::surface::{euler_characteristics, volume};
use frazil_render::{ParticleSurface, SurfaceOptions};
use frazil_vk::{Device, DeviceOptions, DeviceSelector};
use glam::DVec3;
use std::time::Instant;

/// Density of particles at rest, and that of the surface.
const REST_DENSITY_KG_M3: f32 = 1000.0;
const LEVEL_KG_M3: f32 = 500.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, spacing_m, cell_m, repetitions] = arguments.as_slice() else {
        return Err("expected FILE SPACING_M CELL_M REPETITIONS".into());
    };
    let (spacing_m, cell_m): (f32, f32) = (spacing_m.parse()?, cell_m.parse()?);
    let bytes = std::fs::read(file)?;
    let positions: Vec<[f32; 3]> = bytemuck::try_cast_slice(&bytes).map_or_else(
        |_| bytes.chunks_exact(12).map(bytemuck::pod_read_unaligned).collect(),
        <[[f32; 3]]>::to_vec,
    );
    let name = std::env::var("FRAZIL_DEVICE").ok().filter(|name| !name.is_empty());
    let selector = name.as_deref().map(DeviceSelector::from);
    let device = Device::open(&DeviceOptions { selector, ..Default::default() })?;
    let bound = |pick: fn(f32, f32) -> f32, by_m: f32| -> [f32; 3] {
        let of = |axis: usize| positions.iter().map(|x| x[axis]).reduce(pick).unwrap_or(0.0) + by_m;
        std::array::from_fn(of)
    };
    let options = SurfaceOptions {
        min_m: bound(f32::min, -4.0 * cell_m),
        max_m: bound(f32::max, 4.0 * cell_m),
        cell_m,
        particle_mass_kg: REST_DENSITY_KG_M3 * spacing_m.powi(3),
        level_kg_m3: LEVEL_KG_M3,
    };
    let n = positions.len() as u32;
    let count = Counts::new(&device)?.upload(&device, "particles", n, n.max(1))?;
    let position = device.buffer_from("position", &positions)?;
    let mut surface = ParticleSurface::new(&device, n, options)?;
    // The first search grows the capacities, and compiles.
    surface.find(&count, &position)?;
    let mut times_ms = Vec::new();
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for _ in 0..repetitions.parse()? {
        let begin = Instant::now();
        let found = surface.find(&count, &position)?;
        vertices = device.download(surface.marching_cubes().position(), found.vertices as usize)?;
        triangles = device.download(surface.marching_cubes().triangle(), found.triangles as usize)?;
        times_ms.push(1e3 * begin.elapsed().as_secs_f64());
    }
    let components = euler_characteristics(vertices.len(), &triangles)
        .map_err(|problem| format!("the surface is not closed: {problem:?}"))?;
    let wide: Vec<DVec3> = vertices.iter().map(|x| DVec3::from_array(x.map(f64::from))).collect();
    println!(
        "{{\"ms\": {:.3}, \"count\": {n}, \"vertices\": {}, \"triangles\": {}, \"volume_m3\": {:.6}, \
         \"components\": {}}}",
        frazil_report::median(&mut times_ms),
        vertices.len(),
        triangles.len(),
        volume(&wide, &triangles),
        components.len()
    );
    Ok(())
}
