//! Suspended powder: optical depths, order, visibility and light.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod studio;

use frazil_kernels::Counts;
use frazil_render::glam::{Vec3, vec3};
use frazil_render::{
    Ball, Frame, Light, OrbitCamera, Powder, PowderLoad, PowderSums, Projection, Shadows, UpAxis,
};
use frazil_testkit::unit_noise;
use frazil_vk::{Buffer, DeviceCount};
use studio::{Picture, Studio, assert_each_barrier_is_needed, display, linear};

const SIZE: u32 = 160;
/// Height of the picture in m.
const HEIGHT_M: f32 = 8.0;
const PIXEL_M2: f32 = (HEIGHT_M / SIZE as f32) * (HEIGHT_M / SIZE as f32);
const BACKGROUND: [f32; 3] = [0.2, 0.3, 0.4];

/// Particles on the device.
struct Grains {
    positions: Buffer<[f32; 3]>,
    velocities: Buffer<[f32; 3]>,
    count: DeviceCount,
}

impl Grains {
    fn new(studio: &Studio, places: &[Vec3], velocities: &[Vec3]) -> Self {
        let words = |vectors: &[Vec3]| -> Vec<[f32; 3]> { vectors.iter().map(Vec3::to_array).collect() };
        let (n, device) = (places.len() as u32, &studio.device);
        Self {
            positions: device.buffer_from("positions", &words(places)).unwrap(),
            velocities: device.buffer_from("velocities", &words(velocities)).unwrap(),
            count: Counts::new(device).unwrap().upload(device, "count", n, n).unwrap(),
        }
    }

    fn powder(&self, extinction_m2: f32, radius_m: f32) -> Powder<'_> {
        let (positions, count, max_count) = (&self.positions, &self.count, u32::MAX);
        let (load, lift_m) = (PowderLoad::Full, 0.0);
        Powder { positions, count, max_count, load, extinction_m2, radius_m, lift_m }
    }
}

/// Returns a camera along y without perspective, or with it from far away.
fn camera(projection: Projection, vertical_fov_deg: f32) -> OrbitCamera {
    OrbitCamera {
        target: Vec3::ZERO,
        distance_m: 0.5 * HEIGHT_M / (0.5 * vertical_fov_deg.to_radians()).tan(),
        azimuth_deg: 0.0,
        elevation_deg: 0.0,
        vertical_fov_deg,
        up_axis: UpAxis::Z,
        projection,
    }
}

fn frame<'a>(powder: &'a [Powder<'a>]) -> Frame<'a> {
    let camera = camera(Projection::Orthographic, 40.0);
    Frame { camera, background: BACKGROUND, powder, ..Frame::default() }
}

/// Returns the optical depths of the pixels of the last picture.
fn optical_depths(studio: &Studio) -> Vec<f32> {
    let PowderSums { width, height, sums } = studio.renderer.powder_sums().unwrap();
    let sums = studio.device.download(sums, (width * height) as usize).unwrap();
    sums.iter().map(|sum| sum[0] / PowderSums::QUANTA).collect()
}

fn scattered(n: usize, half_m: f32) -> Vec<Vec3> {
    let at = |i: usize| Vec3::from([0, 1, 2].map(|axis| 2.0 * unit_noise(3 * i + axis) - 1.0));
    (0..n).map(|i| half_m * at(i)).collect()
}

/// The optical depth of puffs, integrated over the plane across the rays, is their extinction cross-section,
/// whatever their radius, and by the speed of their particles.
#[test]
fn optical_depth_integrates_to_the_extinction_cross_section() {
    let mut studio = Studio::new(SIZE, SIZE);
    let places = [vec3(-1.5, 0.3, 0.8), vec3(1.0, -2.0, -1.0), vec3(1.1, 1.0, -0.9)];
    let velocities = [vec3(3.0, 0.0, 4.0), vec3(0.0, 10.0, 0.0), vec3(1.9, 0.0, 0.0)];
    let grains = Grains::new(&studio, &places, &velocities);
    for projection in [Projection::Orthographic, Projection::Perspective] {
        for (radius_m, extinction_m2) in [(0.4, 0.5), (1.3, 2.0)] {
            for per_axis in [1, 2] {
                studio.renderer.set_supersampling(per_axis).unwrap();
                // From 230 m away, the perspective is nearly parallel.
                let fov = if projection == Projection::Perspective { 2.0 } else { 40.0 };
                let full = grains.powder(extinction_m2, radius_m);
                let onset_m_s = 2.0;
                let load = PowderLoad::BySpeed { velocities: &grains.velocities, onset_m_s };
                // The third particle is below the onset.
                for (powder, expected) in
                    [(full, 3.0), (Powder { load, ..full }, (1.0 - 4.0 / 25.0) + (1.0 - 4.0 / 100.0))]
                {
                    let sets = [powder];
                    studio.draw(&Frame { camera: camera(projection, fov), ..frame(&sets) });
                    let found = PIXEL_M2 * optical_depths(&studio).iter().sum::<f32>();
                    let expected = extinction_m2 * expected;
                    let what = format!("{found} m² of {expected}: {projection:?}, radius {radius_m} m");
                    assert!((found / expected - 1.0).abs() < 0.02, "{what}");
                }
            }
        }
    }
    studio.check();
}

/// Before a wall through its centre half of a puff is visible; behind the wall nothing; and the edge is soft:
/// the optical depth varies steadily with the distance of the wall.
#[test]
fn what_is_opaque_cuts_puffs_off_softly() {
    let mut studio = Studio::new(SIZE, SIZE);
    let grains = Grains::new(&studio, &[Vec3::ZERO], &[Vec3::ZERO]);
    let sets = [grains.powder(2.0, 1.0)];
    let mut visible = Vec::new();
    for step in -6..=6 {
        // The near side of a ball of 1 km is flat.
        let y = 0.2 * step as f32;
        let balls = [Ball { center: vec3(0.0, y + 1000.0, 0.0), radius_m: 1000.0, color: [0.5; 3] }];
        studio.draw(&Frame { balls: &balls, ..frame(&sets) });
        visible.push(PIXEL_M2 * optical_depths(&studio).iter().sum::<f32>());
    }
    assert!(visible[0] == 0.0 && (visible[12] - 2.0).abs() < 0.03, "{visible:?}");
    assert!((visible[6] - 1.0).abs() < 0.02, "{visible:?}");
    // The mass of (1 − s²)² within |y| ≤ 0.1 is 0.17 of that of the puff.
    assert!(visible.windows(2).all(|pair| (0.0..0.5).contains(&(pair[1] - pair[0]))), "{visible:?}");
    studio.check();
}

/// The order of particles changes no bit, with many overlapping puffs.
#[test]
fn the_order_of_particles_changes_no_bit() {
    let mut studio = Studio::new(SIZE, SIZE);
    let places = scattered(900, 3.0);
    let velocities: Vec<Vec3> = scattered(900, 9.0);
    let mut draw = |order: &dyn Fn(usize) -> usize| {
        let pick = |from: &[Vec3]| (0..from.len()).map(|i| from[order(i)]).collect::<Vec<_>>();
        let grains = Grains::new(&studio, &pick(&places), &pick(&velocities));
        let load = PowderLoad::BySpeed { velocities: &grains.velocities, onset_m_s: 3.0 };
        let sets = [Powder { load, lift_m: 0.3, ..grains.powder(0.37, 1.1) }];
        let picture = studio.draw(&frame(&sets));
        let PowderSums { width, height, sums } = studio.renderer.powder_sums().unwrap();
        (picture.pixels, studio.device.download(sums, (width * height) as usize).unwrap())
    };
    let (first, first_sums) = draw(&|i| i);
    let deepest = first_sums.iter().fold(0.0, |depth: f32, sum| depth.max(sum[0] / PowderSums::QUANTA));
    assert!(deepest > 3.0, "{deepest}");
    for order in [&(|i: usize| 899 - i) as &dyn Fn(usize) -> usize, &|i| (i * 7 + 300) % 900] {
        let (pixels, sums) = draw(order);
        assert!(sums == first_sums && pixels == first);
    }
    studio.check();
}

/// No powder is the picture without, to the bit: no set, no extinction, all particles below the onset.
#[test]
fn no_powder_is_the_picture_without() {
    let mut studio = Studio::new(SIZE, SIZE);
    let grains = Grains::new(&studio, &scattered(20, 2.0), &scattered(20, 1.0));
    let balls = [Ball { center: Vec3::ZERO, radius_m: 1.0, color: [0.5, 0.4, 0.3] }];
    let full = grains.powder(1.0, 0.8);
    let load = PowderLoad::BySpeed { velocities: &grains.velocities, onset_m_s: 2.0 };
    for (occlusion, per_axis) in [(0.0, 1), (0.7, 1), (0.7, 2)] {
        studio.renderer.set_supersampling(per_axis).unwrap();
        let mut draw =
            |powder: &[Powder<'_>]| studio.draw(&Frame { balls: &balls, occlusion, ..frame(powder) }).pixels;
        let without = draw(&[]);
        assert!(draw(&[Powder { extinction_m2: 0.0, ..full }]) == without);
        assert!(draw(&[Powder { load, ..full }]) == without);
        assert!(draw(&[full]) != without);
    }
    studio.check();
}

/// A share e^(−τ) of what is behind is visible; a thick cloud has the light of sun and sky on the side of the
/// sun, and that of the sky in its shadow.
#[test]
fn powder_is_lit_by_sun_and_sky_and_absorbs_by_its_optical_depth() {
    let mut studio = Studio::new(SIZE, SIZE);
    let to_sun = Vec3::X;
    let light = Light { to_sun, ..Light::default() };
    let grains = Grains::new(&studio, &[Vec3::ZERO], &[Vec3::ZERO]);
    let at = |picture: &Picture, x: f32| {
        let found = picture.at((0.5 * SIZE as f32 + x * SIZE as f32 / HEIGHT_M) as u32, SIZE / 2);
        linear(Vec3::from(found.map(f32::from)) / 255.0)
    };
    // From the side of the sun of the puff to the other.
    let thick = [grains.powder(4000.0, 2.0)];
    let picture = studio.draw(&Frame { light, ..frame(&thick) });
    let [bright, dark] = [1.0, -1.9].map(|x| at(&picture, x));
    assert!(bright.min_element() > 1.8 * dark.max_element(), "{bright} and {dark}");
    // A wall between it and the sun.
    let balls = [Ball { center: vec3(6.0, 0.0, 0.0), radius_m: 3.0, color: [0.5; 3] }];
    let shadows =
        Some(Shadows { size_px: 64, ..Shadows::of_particles([Vec3::splat(-9.0), Vec3::splat(9.0)], 0.05) });
    let shaded = studio.draw(&Frame { light, balls: &balls, shadows, ..frame(&thick) });
    let [found, unshaded] = [&shaded, &picture].map(|picture| at(picture, 1.0));
    assert!(found.max_element() < 0.45 * unshaded.max_element(), "{found} of {unshaded}");
    // At the middle of a thin puff, with the light that a thick one has there.
    let thin = [grains.powder(4.0, 2.0)];
    let picture_of_thin = studio.draw(&Frame { light, ..frame(&thin) });
    let centre = (SIZE / 2 * SIZE + SIZE / 2) as usize;
    let depth = optical_depths(&studio)[centre];
    let expected_depth = 4.0 / Powder::extinction_of(1.0, 2.0);
    assert!((depth / expected_depth - 1.0).abs() < 0.01, "{depth}, expected {expected_depth}");
    let expected = at(&picture, 0.0).lerp(linear(Vec3::from(BACKGROUND)), (-depth).exp());
    let found = at(&picture_of_thin, 0.0);
    let off = 255.0 * (display(found) - display(expected)).abs().max_element();
    assert!((0.3..2.0).contains(&depth) && off < 2.0, "depth {depth}: {found}, expected {expected}");
    studio.check();
}

#[test]
fn every_barrier_of_a_picture_with_powder_is_needed_and_none_is_missing() {
    let mut studio = Studio::new(64, 48);
    let grains = Grains::new(&studio, &scattered(20, 2.0), &scattered(20, 1.0));
    let sets = [grains.powder(1.0, 0.8)];
    let shadows = Shadows::of_particles([Vec3::splat(-2.0), Vec3::splat(2.0)], 0.05);
    let shadows = Some(Shadows { size_px: 64, ..shadows });
    let balls = [Ball { center: Vec3::ZERO, radius_m: 1.0, color: [0.5; 3] }];
    let frame = Frame { shadows, balls: &balls, occlusion: 0.5, ..frame(&sets) };
    let device = studio.device.clone();
    assert_each_barrier_is_needed(&device, |recorder| studio.renderer.record(recorder, &frame).unwrap());
}
