//! Shadows of the sun: where geometry says that they are, and nowhere else.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod studio;

use frazil_kernels::Counts;
use frazil_render::glam::{Vec3, vec3};
use frazil_render::{
    Ball, Coloring, Frame, Light, OrbitCamera, Particles, Projection, Radius, Shading, Shadows, Solid,
    SolidShape, Terrain, UpAxis,
};
use studio::{Picture, Studio, assert_each_barrier_is_needed, display, linear};

const SIZE: u32 = 200;
/// Side of the ground in m.
const SIDE_M: f32 = 40.0;
/// Width of the band around an edge of a shadow, in m, that is not compared: two pixels of the picture, and
/// the averaged pixels of the shadow's image.
const BAND_M: f32 = 0.5;

/// Returns a camera straight above the middle of the ground, without perspective.
fn from_above() -> OrbitCamera {
    OrbitCamera {
        target: vec3(0.5 * SIDE_M, 0.5 * SIDE_M, 0.0),
        azimuth_deg: 0.0,
        elevation_deg: 89.999,
        distance_m: 40.0,
        vertical_fov_deg: 2.0 * 0.45f32.atan().to_degrees(),
        up_axis: UpAxis::Z,
        projection: Projection::Orthographic,
    }
}

/// Creates a ground of heights over x and y, a height per metre.
fn ground(studio: &Studio, height: impl Fn(f32, f32) -> f32) -> Terrain {
    let n = SIDE_M as usize + 1;
    let heights: Vec<f32> = (0..n * n).map(|i| height((i % n) as f32, (i / n) as f32)).collect();
    Terrain::new(&studio.device, n, 1.0, &heights).unwrap().with_error_px(0.0)
}

fn shadows() -> Shadows {
    Shadows::of_terrain([vec3(0.0, 0.0, 0.0), vec3(SIDE_M, SIDE_M, 10.0)], 0.05)
}

/// Returns the shares of pixels that differ from what the sun's direction says: `is_shaded` of a point of the
/// level ground in m, and the distance in m from the edge of the shadow there.
fn compare(
    picture: &Picture,
    bright: &Picture,
    hides: impl Fn(Vec3) -> bool,
    is_shaded: impl Fn(Vec3) -> bool,
) {
    let (camera, mut seen) = (from_above(), [0, 0]);
    for y in 0..SIZE {
        for x in 0..SIZE {
            let (origin, _) =
                camera.ray(frazil_render::glam::vec2(x as f32 + 0.5, y as f32 + 0.5), SIZE, SIZE);
            let at = origin.with_z(0.0);
            let around = |dx: f32, dy: f32| at + BAND_M * vec3(dx, dy, 0.0);
            let near = [at, around(1.0, 0.0), around(-1.0, 0.0), around(0.0, 1.0), around(0.0, -1.0)];
            if near.iter().any(|near| hides(*near)) {
                continue;
            }
            let expected = is_shaded(at);
            if near.iter().any(|near| is_shaded(*near) != expected) {
                continue;
            }
            let [found, full] = [picture, bright].map(|picture| picture.at(x, y));
            let darker = found[0] + 40 < full[0];
            assert!(darker == expected, "at {at}: {found:?} of {full:?}, expected a shadow: {expected}");
            assert!(expected || found == full, "at {at}: {found:?}, without shadows {full:?}");
            seen[usize::from(expected)] += 1;
        }
    }
    assert!(seen[0] > 10_000 && seen[1] > 200, "compared: {seen:?}");
}

/// A box, a ball and a grain above level ground: a point is in shadow if the ray to the sun meets the body.
#[test]
fn bodies_above_a_plane_darken_what_the_rays_of_the_sun_do_not_reach() {
    let mut studio = Studio::new(SIZE, SIZE);
    let level = ground(&studio, |_, _| 0.0);
    let (middle, half) = (vec3(22.0, 18.0, 5.0), vec3(3.0, 2.0, 1.5));
    let shape = SolidShape::cuboid(middle, [half.x * Vec3::X, half.y * Vec3::Y, half.z * Vec3::Z]);
    let solid = Solid::new(&studio.device, &shape, [0.5; 3]).unwrap();
    let radius_m = 2.0;
    let count = Counts::new(&studio.device).unwrap().upload(&studio.device, "one", 1, 1).unwrap();
    let positions = studio.device.buffer_from("position", &[middle.to_array()]).unwrap();
    let grain = |shading| Particles {
        positions: &positions,
        count: &count,
        max_count: 1,
        radius: Radius::Uniform(radius_m),
        coloring: Coloring::Uniform([0.9; 3]),
        shading,
    };
    let in_box = |origin: Vec3, to_sun: Vec3| {
        let [a, b] = [middle - half, middle + half].map(|corner| (corner - origin) / to_sun);
        a.min(b).max_element() < a.max(b).min_element()
    };
    let in_sphere = |origin: Vec3, to_sun: Vec3| (middle - origin).cross(to_sun).length() < radius_m;
    for (azimuth_deg, elevation_deg) in [(30.0, 40.0), (250.0, 55.0)] {
        let light = Light::from_sun(UpAxis::Z, azimuth_deg, elevation_deg);
        let frame = Frame { camera: from_above(), terrain: Some(&level), light, ..Frame::default() };
        let bright = studio.draw(&frame);
        let frame = Frame { shadows: Some(shadows()), ..frame };
        let meshes = [solid.mesh()];
        let picture = studio.draw(&Frame { meshes: &meshes, ..frame.clone() });
        compare(&picture, &bright, |at| in_box(at, Vec3::Z), |at| in_box(at, light.to_sun));
        let balls = [Ball { center: middle, radius_m, color: [0.5; 3] }];
        let picture = studio.draw(&Frame { balls: &balls, ..frame.clone() });
        compare(&picture, &bright, |at| in_sphere(at, Vec3::Z), |at| in_sphere(at, light.to_sun));
        for shading in [Shading::Lit, Shading::Sunlit] {
            let particles = [grain(shading)];
            let picture = studio.draw(&Frame { particles: &particles, ..frame.clone() });
            compare(&picture, &bright, |at| in_sphere(at, Vec3::Z), |at| in_sphere(at, light.to_sun));
        }
    }
    studio.check();
}

/// The shadow of a wall on level ground ends at its height over the tangent of the sun's elevation, and in it
/// only the light of the sky arrives.
#[test]
fn terrain_shades_terrain_as_far_as_the_sun_is_low() {
    let mut studio = Studio::new(SIZE, SIZE);
    // A ridge along y with a top of 1 m, and steep sides of 1 m.
    let ridge = ground(&studio, |x, _| if (14.5..16.5).contains(&x) { 6.0 } else { 0.0 });
    for elevation_deg in [30.0_f32, 45.0] {
        // From lower x.
        let light = Light::from_sun(UpAxis::Z, 270.0, elevation_deg);
        assert!(light.to_sun.x < 0.0);
        let frame = Frame { camera: from_above(), terrain: Some(&ridge), light, ..Frame::default() };
        let bright = studio.draw(&frame);
        let picture = studio.draw(&Frame { shadows: Some(shadows()), ..frame });
        let end = 16.0 + 6.0 / elevation_deg.to_radians().tan();
        // Normals of the heights beside the ridge are not level.
        let hides = |at: Vec3| (13.0..19.0).contains(&at.x) || !(0.0..=SIDE_M).contains(&at.y);
        compare(&picture, &bright, hides, |at| (16.0..end).contains(&at.x));
        let (pixel, _) = from_above().project(vec3(20.5, 20.0, 0.0), SIZE, SIZE).unwrap();
        let found = picture.at(pixel.x as u32, pixel.y as u32);
        let expected = 255.0 * display(linear(vec3(0.79, 0.82, 0.86)) * vec3(0.24, 0.31, 0.43));
        let off = Vec3::from(found.map(f32::from)) - expected;
        assert!(off.abs().max_element() <= 2.0, "{found:?}, expected the sky's light {expected}");
    }
    studio.check();
}

/// A plane never shades itself, however low the sun; nor does it with a level of detail.
#[test]
fn a_plane_does_not_shade_itself() {
    let mut studio = Studio::new(SIZE, SIZE);
    for slope in [0.0, 0.5] {
        let plane = ground(&studio, |x, y| slope * (0.2 * x + 0.1 * y));
        for (azimuth_deg, elevation_deg) in [(0.0, 4.0), (77.0, 15.0), (0.0, 90.0)] {
            let light = Light::from_sun(UpAxis::Z, azimuth_deg, elevation_deg);
            let frame = Frame { camera: from_above(), terrain: Some(&plane), light, ..Frame::default() };
            let bright = studio.draw(&frame);
            let picture = studio.draw(&Frame { shadows: Some(shadows()), ..frame });
            let n_different = picture.pixels.iter().zip(&bright.pixels).filter(|(a, b)| a != b).count();
            assert_eq!(n_different, 0, "slope {slope}, sun at {azimuth_deg}°, {elevation_deg}°");
        }
    }
    studio.check();
}

#[test]
fn every_barrier_of_a_picture_with_shadows_is_needed_and_none_is_missing() {
    let mut studio = Studio::new(64, 48);
    let level = ground(&studio, |_, _| 0.0);
    let balls = [Ball { center: vec3(20.0, 20.0, 4.0), radius_m: 2.0, color: [0.5; 3] }];
    let shadows = Some(Shadows { size_px: 64, ..shadows() });
    let frame =
        Frame { camera: from_above(), terrain: Some(&level), balls: &balls, shadows, ..Frame::default() };
    let device = studio.device.clone();
    assert_each_barrier_is_needed(&device, |recorder| studio.renderer.record(recorder, &frame).unwrap());
}
