//! Light on snow: lights beside the sun, bumps and glitter.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod studio;

use frazil_render::glam::{Vec3, vec3};
use frazil_render::{
    DirectionalLight, Frame, Light, OrbitCamera, Projection, Shadows, SnowLook, Terrain, UpAxis,
};
use studio::{Picture, Studio, display, linear};

const SIZE: u32 = 160;
/// Side of the ground in m.
const SIDE_M: f32 = 64.0;

/// Returns a camera above the middle of the ground, without perspective, that shows `height_m`.
fn camera(height_m: f32, elevation_deg: f32) -> OrbitCamera {
    OrbitCamera {
        target: vec3(0.5 * SIDE_M, 0.5 * SIDE_M, 0.0),
        azimuth_deg: 0.0,
        elevation_deg,
        distance_m: 50.0,
        vertical_fov_deg: 2.0 * (0.5 * height_m / 50.0).atan().to_degrees(),
        up_axis: UpAxis::Z,
        projection: Projection::Orthographic,
    }
}

fn level(studio: &Studio) -> Terrain {
    let n = SIDE_M as usize + 1;
    Terrain::new(&studio.device, n, 1.0, &vec![0.0; n * n]).unwrap()
}

fn sun() -> Light {
    Light::from_sun(UpAxis::Z, 200.0, 40.0)
}

fn brightness(picture: &Picture) -> Vec<f32> {
    picture.pixels.iter().map(|pixel| f32::from(pixel.to_le_bytes()[1])).collect()
}

fn mean_and_deviation(values: &[f32]) -> [f32; 2] {
    let n = values.len() as f32;
    let mean = values.iter().sum::<f32>() / n;
    [mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / n).sqrt()]
}

/// Light adds up, linearly; those beside the sun reach what the sun does not.
#[test]
fn lights_add_their_shares() {
    let mut studio = Studio::new(64, 64);
    let ground = level(&studio);
    let light = Light::from_sun(UpAxis::Z, 200.0, 30.0);
    let from = |azimuth_deg, elevation_deg| Light::from_sun(UpAxis::Z, azimuth_deg, elevation_deg).to_sun;
    let lights = [
        DirectionalLight { to_light: from(30.0, 20.0), color: [0.9, 0.2, 0.1], intensity: 0.7 },
        DirectionalLight { to_light: from(100.0, 70.0), color: [0.1, 0.4, 0.8], intensity: 0.5 },
        // From below.
        DirectionalLight { to_light: from(100.0, -20.0), color: [1.0; 3], intensity: 5.0 },
    ];
    let shadows = Some(Shadows::of_terrain([Vec3::ZERO, vec3(SIDE_M, SIDE_M, 1.0)], 0.1));
    for n in 0..=lights.len() {
        for shadows in [None, shadows] {
            let lights = &lights[..n];
            let frame =
                Frame { camera: camera(20.0, 80.0), terrain: Some(&ground), light, ..Frame::default() };
            let found = studio.draw(&Frame { lights, shadows, ..frame }).at(32, 32);
            let mut sum = vec3(0.24, 0.31, 0.43) + light.to_sun.z * vec3(0.98, 0.92, 0.82);
            for light in lights {
                sum += light.to_light.z.max(0.0) * light.intensity * linear(Vec3::from(light.color));
            }
            let expected = 255.0 * display((linear(vec3(0.79, 0.82, 0.86)) * sum).min(Vec3::ONE));
            let off = Vec3::from(found.map(f32::from)) - expected;
            assert!(off.abs().max_element() <= 2.0, "{n} lights: found {found:?}, expected {expected}");
        }
    }
    let many = [lights[0]; 5];
    let mut recorder = studio.device.recorder().unwrap();
    let frame = Frame { lights: &many, ..Frame::default() };
    let refused = studio.renderer.record(&mut recorder, &frame).unwrap_err().to_string();
    assert!(refused.contains("5 lights beside the sun, expected at most 4"), "{refused}");
    drop(recorder);
    studio.check();
}

/// Draws level snow in a picture of `height_m`.
fn snow(studio: &mut Studio, snow: SnowLook, camera: OrbitCamera) -> Picture {
    let ground = level(studio);
    studio.draw(&Frame { camera, terrain: Some(&ground), light: sun(), snow, ..Frame::default() })
}

const BUMPS: SnowLook =
    SnowLook { bump_slope: 0.12, bump_wavelength_m: 2.0, glitter: 0.0, glitter_cell_m: 1.0 };

/// Bumps vary the light, without changing it on the whole, and never alias: halfway between two pixels, the
/// picture is near their mean. Pixels that sample finer bumps than they can show have no such relation.
#[test]
fn bumps_fade_with_distance_and_do_not_alias() {
    let mut studio = Studio::new(SIZE, SIZE);
    let mut deviations = Vec::new();
    // Wavelengths of the longest bumps of 27, 13, 7, 3 and 2 pixels.
    for height_m in [12.0, 24.0, 48.0, 96.0, 170.0] {
        let still = camera(height_m, 89.999);
        let half_a_pixel = 0.5 * height_m / SIZE as f32 * Vec3::X;
        let moved = OrbitCamera { target: still.target + half_a_pixel, ..still };
        let plain = snow(&mut studio, SnowLook::default(), still).at(SIZE / 2, SIZE / 2)[1];
        let [here, halfway] = [still, moved].map(|camera| snow(&mut studio, BUMPS, camera));
        // The part that the ground fills.
        let half = ((0.5 * SIDE_M / height_m * SIZE as f32) as u32).min(SIZE / 2) - 2;
        let (mut values, mut errors) = (Vec::new(), Vec::new());
        for y in SIZE / 2 - half..SIZE / 2 + half {
            for x in SIZE / 2 - half..SIZE / 2 + half {
                let [a, b] = [x, x + 1].map(|x| f32::from(here.at(x, y)[1]));
                values.push(a);
                errors.push(f32::from(halfway.at(x, y)[1]) - 0.5 * (a + b));
            }
        }
        let ([mean, deviation], [_, error]) = (mean_and_deviation(&values), mean_and_deviation(&errors));
        println!("{height_m} m: mean {mean} of {plain}, deviation {deviation}, {error} between pixels");
        assert!((mean - f32::from(plain)).abs() < 3.0, "{height_m} m: mean {mean}, without bumps {plain}");
        // Half a level is rounding.
        assert!(
            error <= 0.25 * deviation + 0.5,
            "{height_m} m: {error} between pixels, deviation {deviation}"
        );
        deviations.push(deviation);
    }
    assert!(deviations[0] > 6.0, "{deviations:?}");
    assert!(deviations.is_sorted_by(|a, b| a >= b), "{deviations:?}");
    assert_eq!(deviations[4], 0.0, "{deviations:?}");
    studio.check();
}

/// Bumps and glitter are places in the world: with the camera they only move across the picture.
#[test]
fn bumps_and_glitter_stay_where_they_are_as_the_camera_pans() {
    let mut studio = Studio::new(SIZE, SIZE);
    let look = SnowLook { glitter: 1.0, glitter_cell_m: 0.5, ..BUMPS };
    let still = camera(12.0, 60.0);
    let by_px = 24;
    let moved = OrbitCamera { target: still.target + by_px as f32 * 12.0 / SIZE as f32 * Vec3::X, ..still };
    let [before, after] = [still, moved].map(|camera| snow(&mut studio, look, camera));
    let mut worst = 0;
    for y in 0..SIZE {
        for x in 0..SIZE - by_px {
            let [a, b] = [before.at(x + by_px, y)[1], after.at(x, y)[1]];
            worst = worst.max(a.abs_diff(b));
        }
    }
    assert!(worst <= 2, "{worst} levels");
    studio.check();
}

/// Crystals reflect the sun sparsely, from some directions, and not where their cells are below two pixels.
#[test]
fn glitter_is_sparse_depends_on_the_view_and_ends_with_distance() {
    let mut studio = Studio::new(SIZE, SIZE);
    let look = SnowLook { glitter: 1.0, glitter_cell_m: 0.5, ..SnowLook::default() };
    // Against the sun, as glitter is seen best.
    let mut glints = |elevation_deg: f32, height_m: f32, look: SnowLook| -> Vec<bool> {
        let [found, plain] = [look, SnowLook::default()]
            .map(|look| brightness(&snow(&mut studio, look, camera(height_m, elevation_deg))));
        assert!(found.iter().zip(&plain).all(|(a, b)| a >= b), "crystals only add light");
        found.iter().zip(&plain).map(|(a, b)| *a > b + 15.0).collect()
    };
    let share = |glints: &[bool]| glints.iter().filter(|is| **is).count() as f32 / glints.len() as f32;
    let overlap = |a: &[bool], b: &[bool]| {
        a.iter().zip(b).filter(|(a, b)| **a && **b).count() as f32 / a.iter().filter(|is| **is).count() as f32
    };
    let seen = glints(50.0, 12.0, look);
    assert!((0.001..0.05).contains(&share(&seen)), "{} of pixels", share(&seen));
    let slightly = glints(50.2, 12.0, look);
    assert!(overlap(&seen, &slightly) > 0.5, "{} after 0.2°", overlap(&seen, &slightly));
    let elsewhere = glints(80.0, 12.0, look);
    assert!(overlap(&seen, &elsewhere) < 0.2, "{} after 30°", overlap(&seen, &elsewhere));
    let few = glints(50.0, 12.0, SnowLook { glitter: 0.3, ..look });
    let ratio = share(&few) / share(&seen);
    assert!((0.1..0.6).contains(&ratio), "{ratio} of glints with 0.3 of crystals");
    assert_eq!(share(&glints(50.0, 42.0, look)), 0.0);
    studio.check();
}
