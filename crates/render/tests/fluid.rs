//! Fluids in pictures: the filters against their twins, flat pools, thickness, absorption, refraction,
//! visibility, and stored images.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod studio;

use frazil_kernels::Counts;
use frazil_reference::render::{
    DepthFilterParams, NO_SURFACE, smooth_depth_bilateral, smooth_depth_narrow_range,
    smooth_thickness as twin_of_thickness,
};
use frazil_render::glam::{Vec3, vec3};
use frazil_render::{
    Ball, FLUID_RADIUS_SPACINGS, Fluid, FluidMaterial, FluidSet, Frame, Light, OrbitCamera, Pixels,
    Projection, SMOOTHING_SPACINGS, Shadows, Smoothing, Solid, SolidShape, Surroundings,
    WATER_REFRACTIVE_INDEX, read_png, write_png,
};
use frazil_shaders::render::{
    smooth_depth_bilateral as bilateral, smooth_depth_narrow_range as narrow_range, smooth_thickness,
};
use frazil_testkit::{FlipImage, Random, config, device, mean_flip, unit_noise};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Threads};
use proptest::prelude::*;
use std::path::PathBuf;
use studio::{Picture, Studio, assert_each_barrier_is_needed, linear};

/// Spacing of particles in m.
const SPACING: f32 = 0.05;
const CLEAR: FluidMaterial =
    FluidMaterial { absorption_1_m: [0.0; 3], color: [0.0; 3], refractive_index: WATER_REFRACTIVE_INDEX };

/// Particles on the device.
struct Water {
    positions: Buffer<[f32; 3]>,
    count: DeviceCount,
}

impl Water {
    fn new(device: &Device, places: &[Vec3]) -> Self {
        let positions: Vec<[f32; 3]> = places.iter().map(Vec3::to_array).collect();
        let n = places.len() as u32;
        let count = Counts::new(device).unwrap().upload(device, "count", n, n.max(1)).unwrap();
        Self { positions: device.buffer_from("positions", &positions).unwrap(), count }
    }

    fn set(&self) -> FluidSet<'_> {
        FluidSet {
            positions: &self.positions,
            count: &self.count,
            max_count: u32::MAX,
            radius_m: FLUID_RADIUS_SPACINGS * SPACING,
            ellipsoids: None,
            volume_m3: SPACING.powi(3),
        }
    }
}

fn fluid<'a>(sets: &'a [FluidSet<'a>], material: FluidMaterial) -> Fluid<'a> {
    let smoothing = Smoothing::narrow_range(SPACING, SMOOTHING_SPACINGS * SPACING);
    Fluid { sets, material, smoothing, surroundings: None }
}

fn shadows() -> Shadows {
    Shadows::of_particles([Vec3::splat(-2.0), Vec3::splat(2.0)], FLUID_RADIUS_SPACINGS * SPACING)
}

/// Returns the places of a lattice in a box that satisfy a condition, displaced by up to `jitter` spacings.
fn lattice(lo: Vec3, hi: Vec3, jitter: f32, keep: impl Fn(Vec3) -> bool) -> Vec<Vec3> {
    let n = ((hi - lo) / SPACING).round().as_uvec3();
    let cells = (0..n.z).flat_map(|z| (0..n.y).flat_map(move |y| (0..n.x).map(move |x| (x, y, z))));
    let middles = cells.map(|(x, y, z)| lo + SPACING * (vec3(x as f32, y as f32, z as f32) + 0.5));
    let kept: Vec<Vec3> = middles.filter(|place| keep(*place)).collect();
    let by =
        |i: usize| jitter * SPACING * Vec3::from([0, 1, 2].map(|axis| 2.0 * unit_noise(3 * i + axis) - 1.0));
    kept.iter().enumerate().map(|(i, place)| *place + by(i)).collect()
}

fn camera(elevation_deg: f32, distance_m: f32) -> OrbitCamera {
    OrbitCamera { azimuth_deg: 20.0, elevation_deg, distance_m, ..OrbitCamera::default() }
}

fn parallel(elevation_deg: f32, height_m: f32) -> OrbitCamera {
    let camera = OrbitCamera { azimuth_deg: 0.0, elevation_deg, ..OrbitCamera::default() };
    let distance_m = 0.5 * height_m / (0.5 * camera.vertical_fov_deg.to_radians()).tan();
    OrbitCamera { distance_m, projection: Projection::Orthographic, ..camera }
}

/// Returns the points that the smoothed distances of the last picture show; `None` for pixels without fluid.
fn points(studio: &Studio, camera: &OrbitCamera) -> Vec<Option<Vec3>> {
    let images = studio.renderer.fluid_images().unwrap();
    let (width, height) = (images.width, images.height);
    let distances = studio.device.download(&images.distance_m, (width * height) as usize).unwrap();
    let back = (camera.eye() - camera.target).normalize();
    let right = Vec3::Y.cross(back).normalize();
    let up = back.cross(right);
    let half = (0.5 * camera.vertical_fov_deg.to_radians()).tan();
    let point = |(i, &z): (usize, &f32)| {
        let x = 2.0 * ((i as u32 % width) as f32 + 0.5) / height as f32 - width as f32 / height as f32;
        let y = 1.0 - 2.0 * ((i as u32 / width) as f32 + 0.5) / height as f32;
        (z < 0.5 * NO_SURFACE).then(|| camera.eye() + z * (half * (x * right + y * up) - back))
    };
    distances.iter().enumerate().map(point).collect()
}

fn filter_on_device(distance_m: &[f32], params: DepthFilterParams, is_bilateral: bool) -> Vec<f32> {
    let device = device();
    let input =
        device.buffer_from("distances", if distance_m.is_empty() { &[0.0] } else { distance_m }).unwrap();
    let output = device.buffer::<f32>("smoothed", distance_m.len().max(1)).unwrap();
    let mut recorder = device.recorder().unwrap();
    let threads = Threads::Fixed(distance_m.len());
    let DepthFilterParams { size, axis, px_per_m, is_perspective, radius, range, step_back } = params;
    let [width, height] = size.map(|n| n as u32);
    let (axis, is_perspective) = (axis as u32, u32::from(is_perspective));
    if is_bilateral {
        let kernel = Kernel::<bilateral::Interface>::new(&device).unwrap();
        let bindings = bilateral::Bindings { distance_m: &input, smoothed_m: &output };
        let params =
            bilateral::Params { width, height, axis, px_per_m, is_perspective, radius, range, step_back };
        recorder.dispatch(&kernel, threads, bindings, params);
    } else {
        let kernel = Kernel::<narrow_range::Interface>::new(&device).unwrap();
        let bindings = narrow_range::Bindings { distance_m: &input, smoothed_m: &output };
        let params =
            narrow_range::Params { width, height, axis, px_per_m, is_perspective, radius, range, step_back };
        recorder.dispatch(&kernel, threads, bindings, params);
    }
    device.submit(recorder).unwrap().wait().unwrap();
    device.download(&output, distance_m.len()).unwrap()
}

/// Slopes, steps to other surfaces, noise, and holes.
fn landscape(size: [usize; 2], seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    let [slope_x, slope_y] = [0, 1].map(|_| 0.06 * (random.unit() - 0.5));
    let [at, wide, step] = [0, 1, 2].map(|_| random.unit());
    let pixel = |i: usize| {
        let (x, y) = ((i % size[0]) as f32, (i / size[0]) as f32);
        let is_front = (x / size[0] as f32 - at).abs() < 0.2 * wide + 0.1 * (y * 0.3).sin();
        let z = 3.0 + slope_x * x + slope_y * y - if is_front { 2.0 * step } else { 0.0 };
        let z = z + 0.05 * (random.unit() - 0.5);
        if random.unit() < 0.1 { NO_SURFACE } else { z }
    };
    (0..size[0] * size[1]).map(pixel).collect()
}

proptest! {
    #![proptest_config(config(24))]

    /// Of the kernel and its twin only the exponentials differ, by few roundings.
    #[test]
    fn filters_agree_with_their_twins(
        width in prop_oneof![Just(1usize), Just(2), 1usize..70, Just(64), Just(257)],
        height in prop_oneof![Just(0usize), Just(1), 1usize..40],
        seed in any::<u64>(),
        axis in 0usize..2,
        radius in 0.0f32..1.5,
        is_perspective in any::<bool>(),
        is_bilateral in any::<bool>(),
    ) {
        let size = [width, height];
        let distances = landscape(size, seed);
        let params = DepthFilterParams {
            size, axis, px_per_m: 40.0, is_perspective, radius, range: 0.3, step_back: 0.1,
        };
        let found = filter_on_device(&distances, params, is_bilateral);
        let twin = if is_bilateral { smooth_depth_bilateral } else { smooth_depth_narrow_range };
        let expected = twin(&distances, params);
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let is_hole = distances[i] == NO_SURFACE;
            prop_assert_eq!(is_hole, *found == NO_SURFACE, "pixel {}", i);
            // The mean is of distances within the range of this one, whatever it is itself: a plane may pass
            // 0.
            let bound = 2e-5 * expected.abs().max(params.range);
            prop_assert!((found - expected).abs() <= bound, "pixel {}: {} {}", i, found, expected);
        }
    }
}

/// The same for thickness, which is 0 where something hides the fluid; a constant thickness stays.
#[test]
fn thickness_is_smoothed_like_its_twin() {
    let kernel = Kernel::<smooth_thickness::Interface>::new(&device()).unwrap();
    let sizes =
        (prop_oneof![Just(1usize), Just(2), 1usize..70, Just(257)], prop_oneof![Just(0usize), 1usize..40]);
    proptest!(config(16), |(
        (width, height) in sizes,
        seed in any::<u64>(),
        axis in 0usize..2,
        radius in 0.0f32..1.5,
    )| {
        let size = [width, height];
        let distances = landscape(size, seed);
        let mut random = Random::new(!seed);
        let thickness: Vec<f32> =
            distances.iter().map(|_| if random.unit() < 0.1 { 0.0 } else { random.unit() }).collect();
        let constant = vec![0.3; thickness.len()];
        for thickness in [&thickness, &constant] {
            let params = DepthFilterParams {
                size, axis, px_per_m: 40.0, is_perspective: true, radius, range: 0.0, step_back: 0.0,
            };
            let device = device();
            let upload = |values: &[f32]| {
                device.buffer_from("values", if values.is_empty() { &[0.0] } else { values }).unwrap()
            };
            let output = upload(thickness);
            let mut recorder = device.recorder().unwrap();
            let bindings = smooth_thickness::Bindings {
                distance_m: &upload(&distances),
                thickness_m: &upload(thickness),
                smoothed_m: &output,
            };
            let params_of_kernel = smooth_thickness::Params {
                width: width as u32,
                height: height as u32,
                axis: axis as u32,
                px_per_m: params.px_per_m,
                is_perspective: 1,
                radius,
                range: 0.0,
                step_back: 0.0,
            };
            recorder.dispatch(&kernel, Threads::Fixed(thickness.len()), bindings, params_of_kernel);
            device.submit(recorder).unwrap().wait().unwrap();
            let found = device.download(&output, thickness.len()).unwrap();
            let expected = twin_of_thickness(&distances, thickness, params);
            for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                prop_assert!((found - expected).abs() <= 1e-5, "pixel {}: {} {}", i, found, expected);
                prop_assert!(thickness != &constant || (found - 0.3).abs() < 1e-5, "pixel {}: {}", i, found);
            }
        }
    });
}

/// Smoothed distances of a plane are those of the plane; the bilateral filter does not mix two planes, and
/// the narrow-range filter does not let the one behind bend towards the one before it.
#[test]
fn filters_keep_planes_and_steps() {
    let size = [120, 3];
    let base = DepthFilterParams {
        size,
        axis: 0,
        px_per_m: 40.0,
        is_perspective: false,
        radius: 0.3,
        range: 0.3,
        step_back: 0.1,
    };
    let plane: Vec<f32> = (0..360).map(|i| 2.0 + 0.05 * (i % 120) as f32).collect();
    let steps: Vec<f32> = (0..360).map(|i| if i % 120 < 60 { 1.0 } else { 2.0 }).collect();
    for is_bilateral in [true, false] {
        let smoothed = filter_on_device(&plane, base, is_bilateral);
        // The bilateral filter lacks one side near the border.
        for i in (0..360).filter(|i| (12..108).contains(&(i % 120))) {
            assert!((smoothed[i] - plane[i]).abs() < 1e-4, "{i}: {} {}", smoothed[i], plane[i]);
        }
        let smoothed = filter_on_device(&steps, DepthFilterParams { range: 0.15, ..base }, is_bilateral);
        for i in 0..360 {
            let is_front_edge = !is_bilateral && (48..60).contains(&(i % 120));
            let bound = if is_front_edge { 0.1 } else { 1e-3 };
            let moved = smoothed[i] - steps[i];
            assert!((-1e-3..=bound).contains(&moved), "{i}: moved by {moved}");
        }
    }
}

/// Normals of a resting pool, by the one-sided differences of the shader.
#[test]
fn a_pool_at_rest_is_flat() {
    let mut studio = Studio::new(320, 240);
    let (lo, hi) = (vec3(-1.5, -0.3, -1.5), vec3(1.5, 0.0, 1.5));
    let water = Water::new(&studio.device, &lattice(lo, hi, 0.1, |_| true));
    for elevation_deg in [20.0, 35.0, 80.0] {
        let camera = camera(elevation_deg, 4.0);
        let sets = [water.set()];
        studio.draw(&Frame { camera, fluid: Some(fluid(&sets, CLEAR)), ..Frame::default() });
        let points = points(&studio, &camera);
        // Both passes of the filter reach that far along the foreshortened surface.
        let rim = 1.5 - 2.0 * SMOOTHING_SPACINGS * SPACING / elevation_deg.to_radians().sin();
        let is_inner = |point: Vec3| point.x.abs() < rim && point.z.abs() < rim && point.y > -0.1;
        let nearer = |here: Vec3, before: Vec3, after: Vec3| {
            let eye = camera.eye();
            let off = |point: Vec3| ((point - eye).length() - (here - eye).length()).abs();
            if off(after) < off(before) { after - here } else { here - before }
        };
        let (mut n_checked, mut largest) = (0, 0.0_f32);
        // The filter lacks taps near the border of the image.
        let is_covered = |i: &usize| (16..304).contains(&(i % 320)) && (16..224).contains(&(i / 320));
        for i in (0..points.len()).filter(is_covered).filter(|i| points[*i].is_some_and(is_inner)) {
            let [here, left, right, above, below] =
                [0, -1, 1, -320, 320].map(|by| points[(i as i64 + by) as usize].unwrap_or(Vec3::NAN));
            let normal = nearer(here, above, below).cross(nearer(here, left, right)).normalize();
            let off_deg = normal.y.clamp(-1.0, 1.0).acos().to_degrees();
            largest = off_deg.max(largest);
            assert!(off_deg < 2.0, "{elevation_deg}°: {off_deg}° off at {here}, pixel {i}");
            n_checked += 1;
        }
        println!("{elevation_deg}°: {largest}° off at most");
        assert!(n_checked > 3_000, "{elevation_deg}°: {n_checked} pixels");
    }
    studio.check();
}

/// The thickness of a ball of particles integrates to their volume, whatever the radius of the spheres.
#[test]
fn thickness_integrates_to_the_volume() {
    let mut studio = Studio::new(300, 300);
    let places = lattice(Vec3::splat(-1.0), Vec3::splat(1.0), 0.0, |place| place.length() < 0.9);
    let water = Water::new(&studio.device, &places);
    let expected = 4.0 / 3.0 * std::f64::consts::PI * 0.9_f64.powi(3);
    let perspective = OrbitCamera { vertical_fov_deg: 6.0, ..camera(30.0, 30.0) };
    // Pixels in no simple ratio to the spacing.
    for camera in [parallel(25.0, 3.07), perspective] {
        for radius_m in [0.5 * SPACING, FLUID_RADIUS_SPACINGS * SPACING, 1.5 * SPACING] {
            let sets = [FluidSet { radius_m, ..water.set() }];
            studio.draw(&Frame { camera, fluid: Some(fluid(&sets, CLEAR)), ..Frame::default() });
            let thickness_m = &studio.renderer.fluid_images().unwrap().thickness_m;
            let sum: f64 =
                studio.device.download(thickness_m, 300 * 300).unwrap().iter().map(|t| f64::from(*t)).sum();
            let tangent = (0.5 * f64::from(camera.vertical_fov_deg).to_radians()).tan();
            let pixel_m = 2.0 * f64::from(camera.distance_m) * tangent / 300.0;
            let volume = sum * pixel_m * pixel_m;
            assert!((volume / expected - 1.0).abs() < 0.02, "{camera:?}, {radius_m}: {volume} of {expected}");
        }
    }
    studio.check();
}

/// A picture of a fluid before a white sheet that faces the camera; returns the linear colour in the middle
/// and the thickness there.
fn before_sheet(studio: &mut Studio, places: &[Vec3], material: FluidMaterial) -> (Vec3, f32) {
    let water = Water::new(&studio.device, places);
    let sheet = SolidShape::cuboid(vec3(0.0, 0.0, -2.0), [3.0 * Vec3::X, 3.0 * Vec3::Y, 0.01 * Vec3::Z]);
    let sheet = Solid::new(&studio.device, &sheet, [1.0; 3]).unwrap();
    let sets = [water.set()];
    // Far from the shadow that falls to the right, and darkest where the surface mirrors.
    let light = Light { to_sun: vec3(-0.8, 0.0, 0.6), ..Light::default() };
    let (camera, meshes) = (parallel(0.0, 2.0), [sheet.mesh()]);
    let fluid = Some(fluid(&sets, material));
    let picture = studio.draw(&Frame { camera, meshes: &meshes, light, fluid, ..Frame::default() });
    let (width, height) = studio.renderer.size();
    let (x, y) = (width / 2, height / 2);
    let images = studio.renderer.fluid_images().unwrap();
    let thickness = studio.device.download(&images.thickness_m, (width * height) as usize).unwrap();
    // Mean over five spacings, since the thickness of single particles is smoothed.
    let around = (y - 12..=y + 12).flat_map(|y| (x - 12..=x + 12).map(move |x| (y * width + x) as usize));
    (linear_at(&picture, x, y), around.map(|i| thickness[i]).sum::<f32>() / 625.0)
}

fn linear_at(picture: &Picture, x: u32, y: u32) -> Vec3 {
    linear(Vec3::from(picture.at(x, y).map(f32::from)) / 255.0)
}

/// Light falls off exponentially with thickness, each colour by its own coefficient (Beer and Lambert).
#[test]
fn absorption_follows_beer_and_lambert() {
    let mut studio = Studio::new(200, 200);
    let block = |depth: f32| lattice(vec3(-0.8, -0.8, -depth), vec3(0.8, 0.8, 0.0), 0.0, |_| true);
    let mut seen = Vec::new();
    for depth in [0.2, 0.6] {
        let (clear, thickness) = before_sheet(&mut studio, &block(depth), CLEAR);
        assert!((thickness / depth - 1.0).abs() < 0.25, "a thickness of {thickness} for {depth} m");
        let absorption_1_m = [2.0, 0.5, 0.0];
        let (tinted, _) = before_sheet(&mut studio, &block(depth), FluidMaterial { absorption_1_m, ..CLEAR });
        // Reflected light is the same with and without absorption, 2 % of a sky.
        let mirrored = 0.0204 * vec3(0.62, 0.74, 0.86);
        for c in 0..3 {
            let expected = (-absorption_1_m[c] * thickness).exp();
            let found = (tinted[c] - mirrored[c]) / (clear[c] - mirrored[c]);
            assert!((found - expected).abs() < 0.03, "{depth} m, colour {c}: {found}, expected {expected}");
        }
        seen.push(tinted.x);
    }
    assert!(seen[1] < 0.6 * seen[0], "{seen:?}");
    studio.check();
}

/// The edge of a floor pattern under a layer of water is displaced as Snell's law says.
#[test]
fn refraction_displaces_the_floor_by_snells_law() {
    let mut studio = Studio::new(240, 240);
    let depth = 0.6;
    let water =
        Water::new(&studio.device, &lattice(vec3(-2.0, -depth, -2.0), vec3(2.0, 0.0, 2.0), 0.3, |_| true));
    // The far half of the floor is red, the near half green.
    let half = |far: f32, color: [f32; 3]| {
        let middle = vec3(0.0, -depth - 0.01, -far);
        let shape = SolidShape::cuboid(middle, [3.0 * Vec3::X, 0.01 * Vec3::Y, 2.0 * Vec3::Z]);
        Solid::new(&studio.device, &shape, color).unwrap()
    };
    let floor = [half(2.0, [1.0, 0.0, 0.0]), half(-2.0, [0.0, 1.0, 0.0])];
    let meshes = floor.each_ref().map(Solid::mesh);
    let sets = [water.set()];
    // Mean over columns, since the thickness of few particles varies.
    let edge = |picture: &Picture| -> f32 {
        let is_green = |x: u32, y: u32| {
            let color = linear_at(picture, x, y);
            color.y > color.x
        };
        (60..180).map(|x| (0..240).find(|y| is_green(x, *y)).unwrap() as f32).sum::<f32>() / 120.0
    };
    let (height_m, angle) = (2.0, 45_f32.to_radians());
    let camera = parallel(45.0, height_m);
    let light = Light { to_sun: Vec3::Y, ..Light::default() };
    let frame = Frame { camera, meshes: &meshes, light, ..Frame::default() };
    let plain = edge(&studio.draw(&frame));
    let seen = |index: f32, studio: &mut Studio| {
        let material = FluidMaterial { refractive_index: index, ..CLEAR };
        edge(&studio.draw(&Frame { fluid: Some(fluid(&sets, material)), ..frame.clone() }))
    };
    assert_eq!(seen(1.0, &mut studio), plain, "without refraction nothing moves");
    let index = WATER_REFRACTIVE_INDEX;
    let inside = (angle.sin() / index).asin();
    // The drawn surface is above the particles' by what the spheres add; their thickness is measured there.
    let added = (FLUID_RADIUS_SPACINGS - 0.5) * SPACING;
    let displaced_m = (depth + 0.5 * added) * (angle.tan() - inside.tan()) * angle.sin();
    let expected_px = displaced_m / height_m * 240.0;
    // The floor seems raised: its edge is higher up in the picture.
    let found_px = plain - seen(index, &mut studio);
    assert!((found_px - expected_px).abs() < 2.0, "by {found_px} px, expected {expected_px}");
    studio.check();
}

/// An opaque body hides the fluid behind it, and is seen through the fluid before it.
#[test]
fn bodies_hide_fluid_and_show_through_it() {
    let mut studio = Studio::new(200, 200);
    let water =
        Water::new(&studio.device, &lattice(vec3(-0.6, -0.6, -0.2), vec3(0.6, 0.6, 0.2), 0.0, |_| true));
    let sets = [water.set()];
    let ball = |z: f32| Ball { center: vec3(0.0, 0.0, z), radius_m: 0.3, color: [0.9, 0.1, 0.1] };
    let light = Light { to_sun: vec3(0.0, 0.8, 0.6), ..Light::default() };
    let absorption_1_m = [0.0, 8.0, 8.0];
    let blue = FluidMaterial { absorption_1_m, color: [0.0, 0.0, 1.0], ..CLEAR };
    // A whole number of 255ths, which no driver rounds elsewhere.
    let background = [0.4; 3];
    let mut draw = |balls: &[Ball], has_fluid: bool| {
        let fluid = has_fluid.then(|| fluid(&sets, blue));
        studio.draw(&Frame {
            camera: parallel(0.0, 2.0),
            balls,
            background,
            light,
            fluid,
            ..Frame::default()
        })
    };
    let (before, behind) = ([ball(0.6)], [ball(-0.7)]);
    let (alone, hidden) = (draw(&before, false), draw(&before, true));
    for [x, y] in [[100, 100], [100, 80], [110, 90]] {
        assert_eq!(hidden.at(x, y), alone.at(x, y), "the ball hides the fluid at {x}, {y}");
    }
    let (nothing, through) = (draw(&[], true), draw(&behind, true));
    let [with_ball, without] = [&through, &nothing].map(|picture| linear_at(picture, 100, 100));
    assert!(with_ball.x > 1.5 * without.x, "the red of the ball shows: {with_ball} {without}");
    assert!((with_ball.z - without.z).abs() < 0.1, "over the blue of the fluid: {with_ball} {without}");
    // Beside the fluid there is only the background.
    assert_eq!(nothing.at(10, 100), [102; 3]);
    assert!(nothing.at(100, 100) != [102; 3]);
    studio.check();
}

/// Without particles, or with none counted, a picture has only its opaque part.
#[test]
fn no_particles_are_drawn_as_nothing() {
    let mut studio = Studio::new(64, 48);
    let water = Water::new(&studio.device, &[Vec3::ZERO]);
    studio.device.upload(&water.count.count, &[0]).unwrap();
    let sets = [water.set()];
    for sets in [&sets[..], &[]] {
        let frame = Frame { background: [0.4; 3], fluid: Some(fluid(sets, CLEAR)), ..Frame::default() };
        let picture = studio.draw(&frame);
        assert!(picture.pixels.iter().all(|pixel| pixel.to_le_bytes()[..3] == [102; 3]));
    }
    studio.check();
}

const GOLDEN: (u32, u32) = (320, 180);
/// Mean FLIP difference of a picture from the stored one that is still accepted. Drivers round differently in
/// exponentials and powers, which moves few pixels by one step of eight bits, far below it; the planted
/// changes below are at least twice as far off.
const MAX_FLIP: f64 = 0.005;

/// Changes of the pool's picture.
#[derive(Clone)]
struct Changes {
    material: FluidMaterial,
    smoothing: Smoothing,
    has_surroundings: bool,
    to_sun: Vec3,
}

impl Default for Changes {
    fn default() -> Self {
        let absorption_1_m = [1.8, 0.6, 0.4];
        Self {
            material: FluidMaterial { absorption_1_m, color: [0.05, 0.27, 0.36], ..CLEAR },
            smoothing: Smoothing::narrow_range(SPACING, SMOOTHING_SPACINGS * SPACING),
            has_surroundings: false,
            to_sun: vec3(0.5, 0.7, -0.6).normalize(),
        }
    }
}

/// Draws waves on a pool over a checkerboard, with a ball that floats in it.
fn pool(studio: &mut Studio, changes: &Changes) -> Picture {
    let wave = |at: Vec3| 0.07 * (5.0 * at.x + 2.0 * at.z).sin() + 0.04 * (7.0 * at.z - 3.0 * at.x).cos();
    let ball = Ball { center: vec3(0.35, 0.05, 0.2), radius_m: 0.28, color: [0.85, 0.25, 0.1] };
    let is_water = |at: Vec3| at.y < wave(at) && at.distance(ball.center) > ball.radius_m + 0.5 * SPACING;
    let water =
        Water::new(&studio.device, &lattice(vec3(-1.2, -0.5, -0.9), vec3(1.2, 0.3, 0.9), 0.15, is_water));
    let board = |parity: i32, color: [f32; 3]| {
        let tiles = (-8..8).flat_map(|x| (-6..6).map(move |z| (x, z))).filter(|(x, z)| (x + z) & 1 == parity);
        let corner = |x: i32, z: i32| vec3(0.2 * x as f32, -0.53, 0.2 * z as f32);
        let shape = SolidShape::flat(tiles.flat_map(|(x, z)| {
            let [a, b, c, d] = [corner(x, z), corner(x, z + 1), corner(x + 1, z + 1), corner(x + 1, z)];
            [[a, b, c], [a, c, d]]
        }));
        Solid::new(&studio.device, &shape, color).unwrap()
    };
    let floor = [board(0, [0.92, 0.9, 0.86]), board(1, [0.25, 0.27, 0.3])];
    let meshes = floor.each_ref().map(Solid::mesh);
    let stripes = |i: u32| if (i % 16) % 8 < 4 { 0xff30_3030 } else { 0xffe0_f0ff };
    let striped = Pixels { width: 16, height: 8, pixels: (0..128).map(stripes).collect() };
    let surroundings = changes.has_surroundings.then(|| Surroundings::new(&studio.device, &striped).unwrap());
    let sets = [water.set()];
    let fluid = Fluid {
        smoothing: changes.smoothing,
        surroundings: surroundings.as_ref(),
        ..fluid(&sets, changes.material)
    };
    let camera = OrbitCamera { target: vec3(0.0, -0.15, 0.0), ..camera(28.0, 3.6) };
    let light = Light { to_sun: changes.to_sun, ..Light::default() };
    let (balls, occlusion) = ([ball], 0.4);
    let background = [0.6, 0.65, 0.7];
    studio.draw(&Frame {
        camera,
        balls: &balls,
        meshes: &meshes,
        light,
        occlusion,
        background,
        backdrop: true,
        fluid: Some(fluid),
        shadows: Some(shadows()),
        ..Frame::default()
    })
}

fn flip(a: &[u32], b: &[u32]) -> f64 {
    let [a, b] = [a, b].map(|pixels| FlipImage { width: GOLDEN.0 as usize, pixels });
    mean_flip(a, b)
}

/// Pictures look as they did when someone looked at them. `FRAZIL_WRITE_GOLDEN=1` writes them anew.
#[test]
fn pictures_look_like_the_stored_ones() {
    let mut studio = Studio::new(GOLDEN.0, GOLDEN.1);
    let cases = [
        ("pool", Changes::default()),
        (
            "pool_bilateral_surroundings",
            Changes {
                smoothing: Smoothing::bilateral(SPACING, SMOOTHING_SPACINGS * SPACING),
                has_surroundings: true,
                ..Changes::default()
            },
        ),
    ];
    for (name, changes) in cases {
        let found = pool(&mut studio, &changes).pixels;
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.png"));
        if std::env::var_os("FRAZIL_WRITE_GOLDEN").is_some() {
            write_png(&path, GOLDEN.0, GOLDEN.1, &found).unwrap();
        }
        let stored = read_png(&path).unwrap();
        assert_eq!((stored.width, stored.height), GOLDEN, "{name}");
        let difference = flip(&stored.pixels, &found);
        let failed = std::env::temp_dir().join(format!("frazil_{name}.png"));
        if difference > MAX_FLIP {
            write_png(&failed, GOLDEN.0, GOLDEN.1, &found).unwrap();
        }
        assert!(difference <= MAX_FLIP, "{name}: FLIP {difference}; found picture: {}", failed.display());
    }
    studio.check();
}

/// Draws the pool larger into the folder that `FRAZIL_WRITE_PICTURES` names, for the documentation; without
/// it, the renderer is only asked to draw a larger picture after a small one.
#[test]
fn the_pool_is_drawn_at_any_size() {
    let mut studio = Studio::new(GOLDEN.0, GOLDEN.1);
    let small = pool(&mut studio, &Changes::default());
    let folder = std::env::var_os("FRAZIL_WRITE_PICTURES");
    let scale = if folder.is_some() { 4 } else { 2 };
    let (width, height) = (scale * GOLDEN.0, scale * GOLDEN.1);
    studio.renderer.resize(width, height).unwrap();
    studio.renderer.set_supersampling(if folder.is_some() { 2 } else { 1 }).unwrap();
    let large = pool(&mut studio, &Changes::default());
    if let Some(folder) = folder {
        write_png(&PathBuf::from(folder).join("fluid_checkerboard.png"), width, height, &large.pixels)
            .unwrap();
    }
    // Lengths are in m, so that the large picture shows the same, reduced: only edges are elsewhere.
    let (n, side) = (GOLDEN.0 * GOLDEN.1, scale as usize);
    let reduced = (0..n).map(|i| {
        let (x, y) = ((i % GOLDEN.0) as usize * side + side / 2, (i / GOLDEN.0) as usize * side + side / 2);
        large.pixels[y * width as usize + x]
    });
    let difference = flip(&small.pixels, &reduced.collect::<Vec<_>>());
    assert!(difference < 0.12, "FLIP {difference}");
    studio.check();
}

/// Mistakes of the kind that the stored pictures are for are farther from them than the threshold.
#[test]
fn planted_changes_of_the_picture_are_detected() {
    let mut studio = Studio::new(GOLDEN.0, GOLDEN.1);
    let stored = pool(&mut studio, &Changes::default()).pixels;
    let Changes { material, smoothing, to_sun, .. } = Changes::default();
    let planted = [
        ("no absorption", FluidMaterial { absorption_1_m: [0.0; 3], ..material }, smoothing, to_sun),
        ("wrong reflectance", FluidMaterial { refractive_index: 1.0, ..material }, smoothing, to_sun),
        ("no smoothing", material, Smoothing { passes: 0, ..smoothing }, to_sun),
        ("half the smoothing", material, Smoothing { passes: 1, ..smoothing }, to_sun),
        ("another sun", material, smoothing, vec3(-0.8, 0.3, 0.5).normalize()),
    ];
    for (name, material, smoothing, to_sun) in planted {
        let changes = Changes { material, smoothing, to_sun, ..Changes::default() };
        let difference = flip(&stored, &pool(&mut studio, &changes).pixels);
        assert!(difference > 2.0 * MAX_FLIP, "{name}: FLIP {difference}");
    }
    studio.check();
}

/// Shadows, opaque objects, distances, thicknesses, both filters and shading depend on one another through
/// images and the copies between them.
#[test]
fn every_barrier_of_a_picture_of_a_fluid_is_needed_and_none_is_missing() {
    let mut studio = Studio::new(64, 48);
    studio.renderer.set_supersampling(2).unwrap();
    let water = Water::new(&studio.device, &lattice(Vec3::splat(-0.2), Vec3::splat(0.2), 0.1, |_| true));
    let floor = SolidShape::cuboid(vec3(0.0, -0.3, 0.0), [Vec3::X, 0.05 * Vec3::Y, Vec3::Z]);
    let floor = Solid::new(&studio.device, &floor, [1.0; 3]).unwrap();
    let (sets, meshes, camera) = ([water.set()], [floor.mesh()], camera(30.0, 2.0));
    for smoothing in [Smoothing::narrow_range, Smoothing::bilateral] {
        let smoothing = smoothing(SPACING, SMOOTHING_SPACINGS * SPACING);
        let fluid = Some(Fluid { smoothing, ..fluid(&sets, CLEAR) });
        let shadows = Some(shadows());
        let frame = Frame { camera, meshes: &meshes, fluid, shadows, occlusion: 1.0, ..Frame::default() };
        let device = studio.device.clone();
        assert_each_barrier_is_needed(&device, |recorder| studio.renderer.record(recorder, &frame).unwrap());
    }
}
