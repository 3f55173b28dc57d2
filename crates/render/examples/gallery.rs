//! Draws a synthetic wave of particles with a block of snow in it, with every element of a picture, and
//! prints the drawing time.
//!
//! `cargo run --example gallery -- wave.png [PARTICLES] [WIDTH HEIGHT] [SUPERSAMPLING]`

use frazil_render::{
    Ball, ColorMap, Coloring, Column, Frame, Ground, Legend, OrbitCamera, Particles, Radius, Renderer,
    Shading, Swatch, WireBox,
    glam::{Vec3, vec3},
    write_png,
};
use frazil_vk::{Device, DeviceCount, DeviceOptions, ReadbackRing};
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = PathBuf::from(arguments.first().ok_or("expected the path of a PNG file")?);
    let number = |i: usize, default: u32| arguments.get(i).map_or(Ok(default), |text| text.parse());
    let (n, width, height) = (number(1, 10_000)?, number(2, 960)?, number(3, 540)?);

    let device = Device::open(&DeviceOptions::default())?;
    let (lo, hi) = (Vec3::ZERO, vec3(2.0, 1.0, 0.6));
    let (mut positions, velocities, spacing) = wave(n, hi);
    let in_block = |[x, y, z]: &[f32; 3]| {
        ((x - 1.1).abs() < 0.16) && ((y - 0.24).abs() < 0.16) && ((z - 0.32).abs() < 0.16)
    };
    // The block displaces water particles and their velocities; it has a lattice of its own.
    let velocities: Vec<_> =
        positions.iter().zip(velocities).filter(|(at, _)| !in_block(at)).map(|(_, v)| v).collect();
    positions.retain(|at| !in_block(at));
    let snow = block(vec3(1.1, 0.24, 0.32), 0.15, spacing);
    let n = positions.len() as u32;
    let position_column = device.buffer_from("positions", &positions)?;
    let velocity_column = device.buffer_from("velocities", &velocities)?;
    let count = DeviceCount::new(&device, "particles", n)?;
    device.upload(&count.count, &[n])?;
    let snow_column = device.buffer_from("snow positions", &snow)?;
    let snow_count = DeviceCount::new(&device, "snow particles", snow.len() as u32)?;
    device.upload(&snow_count.count, &[snow.len() as u32])?;

    let mut renderer = Renderer::new(&device, width, height)?;
    renderer.set_supersampling(number(4, 1)?)?;
    let mut camera = OrbitCamera::default();
    camera.frame_box(lo, hi, width as f32 / height as f32);
    let legend =
        Legend { title: "speed".into(), unit: "m/s".into(), map: ColorMap::Viridis, range: [0.0, 3.0] };
    let coloring =
        Coloring::Mapped { column: Column::Vector(&velocity_column), map: legend.map, range: legend.range };
    let swatch = Swatch { label: "snow".into(), color: [0.93, 0.95, 0.98] };
    let particles = [
        Particles {
            positions: &position_column,
            count: &count,
            max_count: u32::MAX,
            radius: Radius::Uniform(0.5 * spacing),
            coloring,
            shading: Shading::Lit,
        },
        Particles {
            positions: &snow_column,
            count: &snow_count,
            max_count: u32::MAX,
            radius: Radius::Uniform(0.5 * spacing),
            coloring: Coloring::Uniform(swatch.color),
            shading: Shading::Matte,
        },
    ];
    let frame = Frame {
        camera,
        background: [0.05, 0.06, 0.08],
        particles: &particles,
        boxes: &[WireBox::between(lo, hi)],
        balls: &[Ball { center: vec3(1.55, 0.13, 0.3), radius_m: 0.13, color: [0.72, 0.70, 0.66] }],
        ground: Some(Ground::under(lo, hi, camera.up_axis)),
        occlusion: 1.0,
        legend: Some(&legend),
        swatches: std::slice::from_ref(&swatch),
        caption: &format!("wave   {n} particles   t = 0.40 s"),
        ..Frame::default()
    };
    let ring = ReadbackRing::new(&device);
    for round in ["first", "second"] {
        let start = Instant::now();
        let mut recorder =
            device.recorder_with(frazil_vk::RecorderOptions { profile: true, ..Default::default() })?;
        renderer.record(&mut recorder, &frame)?;
        let pending = ring.read_image(&mut recorder, renderer.image())?;
        let submission = device.submit(recorder)?;
        let pixels = pending.wait()?;
        println!("{round} picture: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
        for pass in submission.pass_times()? {
            println!("  {pass:?}");
        }
        write_png(&path, width, height, &pixels)?;
    }
    Ok(())
}

/// Samples a slightly rotated cube of particles around `center`.
fn block(center: Vec3, half_side: f32, spacing: f32) -> Vec<[f32; 3]> {
    let steps = (2.0 * half_side / spacing) as i32;
    let turn = frazil_render::glam::Quat::from_rotation_z(0.35);
    let at = |i: i32| (i as f32 + 0.5) * spacing - half_side;
    let cells = (0..steps).flat_map(|x| (0..steps).flat_map(move |y| (0..steps).map(move |z| (x, y, z))));
    cells.map(|(x, y, z)| (center + turn * vec3(at(x), at(y), at(z))).to_array()).collect()
}

/// Samples about `n` particles on a jittered lattice below a breaking surface in a tank of size `hi`, with
/// plausible velocities.
fn wave(n: u32, hi: Vec3) -> (Vec<[f32; 3]>, Vec<[f32; 3]>, f32) {
    let surface =
        |x: f32, z: f32| 0.22 + 0.45 * (-(x - 0.45).powi(2) / 0.08).exp() + 0.03 * (9.0 * z + 5.0 * x).sin();
    let spacing = (0.36 * hi.x * hi.z / n as f32).cbrt();
    let (mut positions, mut velocities) = (Vec::new(), Vec::new());
    let steps = (hi / spacing).as_uvec3();
    let mut noise = 1_u32;
    let mut jitter = || {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((noise >> 8) as f32 / (1 << 24) as f32 - 0.5) * 0.5 * spacing
    };
    for i in 0..steps.x * steps.y * steps.z {
        let cell = vec3((i % steps.x) as f32, (i / steps.x / steps.z) as f32, (i / steps.x % steps.z) as f32);
        let at = (cell + 0.5) * spacing + vec3(jitter(), jitter(), jitter());
        if at.y < surface(at.x, at.z) {
            positions.push(at.to_array());
            velocities.push([3.2 * (at.y / 0.7).powf(1.3) + 0.4 * at.x, 0.3 * (5.0 * at.x).cos(), 0.0]);
        }
    }
    (positions, velocities, spacing)
}
