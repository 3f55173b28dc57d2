//! Pictures checked by geometry and colour, not by stored images: expected values are those of a pinhole
//! camera and known spheres.
//!
//! Every picture is drawn with core and synchronization validation on, and each test asserts an empty
//! validation log.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use frazil_render::glam::{Vec2, Vec3, vec3};
use frazil_render::{
    Ball, ColorMap, Coloring, Column, Frame, Ground, Legend, OrbitCamera, Particles, Projection, Radius,
    Renderer, Shading, Swatch, UpAxis, WireBox,
};
use frazil_testkit::own_device;
use frazil_vk::{BarrierPlan, Buffer, Device, DeviceCount, ReadbackRing, RecorderOptions, find_hazards};

const WIDTH: u32 = 320;
const HEIGHT: u32 = 240;
const BACKGROUND: [f32; 3] = [0.2, 0.4, 0.6];
const BACKGROUND_BYTES: [u8; 3] = [51, 102, 153];

struct Studio {
    device: Device,
    renderer: Renderer,
}

/// A particle set on the device.
struct Set {
    positions: Buffer<[f32; 3]>,
    values: Buffer<f32>,
    count: DeviceCount,
}

struct Picture {
    width: u32,
    pixels: Vec<u32>,
}

impl Studio {
    fn new() -> Self {
        let device = own_device();
        let renderer = Renderer::new(&device, WIDTH, HEIGHT).unwrap();
        Self { device, renderer }
    }

    fn set(&self, positions: &[Vec3], values: &[f32], count: u32) -> Set {
        let positions: Vec<_> = positions.iter().map(Vec3::to_array).collect();
        let device = &self.device;
        let set = Set {
            positions: device.buffer_from("positions", &positions).unwrap(),
            values: device.buffer_from("values", values).unwrap(),
            count: DeviceCount::new(device, "particles", positions.len() as u32).unwrap(),
        };
        device.upload(&set.count.count, &[count]).unwrap();
        set
    }

    fn draw(&mut self, frame: &Frame<'_>) -> Picture {
        let mut recorder = self.device.recorder().unwrap();
        let waits = self.device.statistics().waits;
        self.renderer.record(&mut recorder, frame).unwrap();
        assert_eq!(self.device.statistics().waits, waits, "recording a picture waits for nothing");
        let ring = ReadbackRing::new(&self.device);
        let pending = ring.read_image(&mut recorder, self.renderer.image()).unwrap();
        self.device.submit(recorder).unwrap();
        Picture { width: self.renderer.size().0, pixels: pending.wait().unwrap() }
    }

    fn check(self) {
        self.device.check_validation().unwrap();
    }
}

impl Set {
    fn flat(&self, radius_m: f32, map: ColorMap, range: [f32; 2]) -> Particles<'_> {
        let coloring = Coloring::Mapped { column: Column::Scalar(&self.values), map, range };
        Particles {
            positions: &self.positions,
            count: &self.count,
            max_count: u32::MAX,
            radius: Radius::Uniform(radius_m),
            coloring,
            shading: Shading::Flat,
        }
    }
}

impl Picture {
    fn at(&self, x: u32, y: u32) -> [u8; 3] {
        let [r, g, b, a] = self.pixels[(y * self.width + x) as usize].to_le_bytes();
        assert_eq!(a, 255, "pictures are opaque");
        [r, g, b]
    }

    fn at_point(&self, pixel: Vec2) -> [u8; 3] {
        self.at(pixel.x as u32, pixel.y as u32)
    }

    /// Returns the centres of the pixels that are not background.
    fn drawn(&self) -> Vec<Vec2> {
        let all = (0..self.pixels.len() as u32).map(|i| (i % self.width, i / self.width));
        all.filter(|(x, y)| self.at(*x, *y) != BACKGROUND_BYTES)
            .map(|(x, y)| Vec2::new(x as f32 + 0.5, y as f32 + 0.5))
            .collect()
    }
}

fn camera() -> OrbitCamera {
    OrbitCamera {
        distance_m: 4.0,
        azimuth_deg: 0.0,
        elevation_deg: 0.0,
        vertical_fov_deg: 40.0,
        ..Default::default()
    }
}

fn bare<'a>(camera: OrbitCamera, particles: &'a [Particles<'a>]) -> Frame<'a> {
    Frame { camera, background: BACKGROUND, particles, ..Frame::default() }
}

fn assert_near(found: [u8; 3], expected: [f32; 3], what: &str) {
    for c in 0..3 {
        let off = (f32::from(found[c]) - 255.0 * expected[c]).abs();
        assert!(off <= 1.0, "{what}: found {found:?}, expected {:?}", expected.map(|x| 255.0 * x));
    }
}

/// Without perspective a sphere is a disc of its own radius at any position and distance, even behind the
/// eye.
#[test]
fn without_perspective_spheres_are_discs_of_their_radius_wherever_they_are() {
    let mut studio = Studio::new();
    let camera = OrbitCamera { projection: Projection::Orthographic, ..camera() };
    let radius = 0.2_f32;
    let px_per_m = 0.5 * HEIGHT as f32 / (camera.distance_m * 20_f32.to_radians().tan());
    for center in [vec3(0.0, 0.0, 0.0), vec3(0.9, -0.7, 2.0), vec3(-1.1, 0.6, -30.0), vec3(0.3, 0.9, 20.0)] {
        let set = studio.set(&[center], &[0.5], 1);
        let picture = studio.draw(&bare(camera, &[set.flat(radius, ColorMap::Viridis, [0.0, 1.0])]));
        let middle = 0.5 * Vec2::new(WIDTH as f32, HEIGHT as f32) + px_per_m * Vec2::new(center.x, -center.y);
        let (projected, _) = camera.project(center, WIDTH, HEIGHT).unwrap();
        assert!((projected - middle).length() < 1e-3, "{projected}, expected {middle}");
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let at = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let away = (at - middle).length() - px_per_m * radius;
                if away.abs() > 0.02 {
                    let is_drawn = picture.at(x, y) != BACKGROUND_BYTES;
                    assert_eq!(is_drawn, away < 0.0, "{center}: pixel {x}, {y} lies {away} px from the edge");
                }
            }
        }
    }
    studio.check();
}

/// The nearer of two spheres on one line of sight is visible, boxes are hidden by what is in front of them,
/// and hollows are darkened.
#[test]
fn without_perspective_what_is_before_hides_what_is_behind() {
    let mut studio = Studio::new();
    let camera = OrbitCamera { projection: Projection::Orthographic, ..camera() };
    let middle = Vec2::new(0.5 * WIDTH as f32, 0.5 * HEIGHT as f32);
    for (values, nearest) in [([0.0, 1.0], 1.0), ([1.0, 0.0], 0.0)] {
        let set = studio.set(&[vec3(0.0, 0.0, -0.02), vec3(0.0, 0.0, 0.01)], &values, 2);
        let picture = studio.draw(&bare(camera, &[set.flat(0.3, ColorMap::Viridis, [0.0, 1.0])]));
        assert_near(picture.at_point(middle), ColorMap::Viridis.at(nearest), "the nearer");
    }
    let set = studio.set(&[Vec3::ZERO], &[0.5], 1);
    let particles = [set.flat(0.3, ColorMap::Viridis, [0.0, 1.0])];
    let edge = |z: f32| WireBox::between(vec3(-1.0, 0.0, z), vec3(1.0, 1.0, z + 0.01));
    let mut boxed = |z: f32| {
        let frame = Frame { boxes: &[edge(z)], occlusion: 1.0, ..bare(camera, &particles) };
        studio.draw(&frame).at_point(middle)
    };
    assert_near(boxed(-1.0), ColorMap::Viridis.at(0.5), "a line behind the sphere");
    let before = boxed(1.0);
    let off = |c: usize| (f32::from(before[c]) - 255.0 * ColorMap::Viridis.at(0.5)[c]).abs();
    assert!((0..3).any(|c| off(c) > 10.0), "a line before the sphere is seen: {before:?}");
    studio.check();
}

#[test]
fn of_intensities_in_one_place_the_brightest_is_seen_whatever_the_order() {
    let mut studio = Studio::new();
    let camera = OrbitCamera { projection: Projection::Orthographic, ..camera() };
    let middle = Vec2::new(0.5 * WIDTH as f32, 0.5 * HEIGHT as f32);
    for values in [[0.2, 0.8, 0.4], [0.8, 0.4, 0.2], [0.4, 0.2, 0.8]] {
        let set = studio.set(&[vec3(0.0, 0.0, -0.1), Vec3::ZERO, vec3(0.0, 0.0, 0.1)], &values, 3);
        let brightest =
            Particles { shading: Shading::Brightest, ..set.flat(0.3, ColorMap::Grey, [0.0, 1.0]) };
        let frame = Frame { background: [0.0; 3], ..bare(camera, std::slice::from_ref(&brightest)) };
        let picture = studio.draw(&frame);
        assert_near(picture.at_point(middle), [0.8; 3], "the brightest");
        assert_eq!(picture.at(1, 1), [0; 3]);
    }
    studio.check();
}

/// The brightness of a disc is whole over the inner half of its radius and fades to none at the rim.
#[test]
fn discs_of_intensities_are_soft() {
    let mut studio = Studio::new();
    let camera = OrbitCamera { projection: Projection::Orthographic, ..camera() };
    let set = studio.set(&[Vec3::ZERO], &[0.8], 1);
    let radius_px = 40.0;
    let radius_m = radius_px * camera.height_m() / HEIGHT as f32;
    let disc = Particles { shading: Shading::Brightest, ..set.flat(radius_m, ColorMap::Grey, [0.0, 1.0]) };
    let frame = Frame { background: [0.0; 3], ..bare(camera, std::slice::from_ref(&disc)) };
    let picture = studio.draw(&frame);
    for (offset_px, is_whole) in [(0, true), (16, true), (24, false), (30, false), (36, false), (41, false)] {
        let at = Vec2::new(0.5 * WIDTH as f32 + offset_px as f32, 0.5 * HEIGHT as f32);
        // Distance of the middle of the pixel, in radii; half a pixel to the right and below.
        let away = Vec2::new(offset_px as f32 + 0.5, 0.5).length() / radius_px;
        let t = (2.0 * away - 1.0).clamp(0.0, 1.0);
        let share = 1.0 - t * t * (3.0 - 2.0 * t);
        assert_eq!(share == 1.0, is_whole);
        let (found, expected) = (f32::from(picture.at_point(at)[0]), 255.0 * 0.8 * share);
        assert!((found - expected).abs() < 3.0, "{offset_px} px: {found} of {expected}");
    }
    studio.check();
}

/// A sphere far smaller than a pixel is drawn with a radius of one, near or far, and however fine the picture
/// is drawn.
#[test]
fn no_particle_is_smaller_than_two_pixels() {
    let mut studio = Studio::new();
    for projection in [Projection::Orthographic, Projection::Perspective] {
        for z in [-3.0, 0.0, 2.0] {
            let camera = OrbitCamera { projection, ..camera() };
            let set = studio.set(&[vec3(0.01, 0.02, z)], &[0.5], 1);
            let particles = [set.flat(1e-5, ColorMap::Viridis, [0.0, 1.0])];
            let n = studio.draw(&bare(camera, &particles)).drawn().len();
            assert!((2..=5).contains(&n), "{n} pixels: {projection:?} at {z} m");
        }
    }
    studio.check();
}

/// Seen from distance d, a sphere of radius r on the camera's axis fills a cone of tan² = r²/(d² − r²), which
/// intersects the picture in a disc around its middle of radius tan · (height / 2) / tan(fov / 2).
#[test]
fn a_sphere_on_the_axis_is_the_analytic_disc() {
    let mut studio = Studio::new();
    let set = studio.set(&[Vec3::ZERO], &[0.5], 1);
    let (radius, distance) = (0.8_f32, 4.0_f32);
    let picture = studio.draw(&bare(camera(), &[set.flat(radius, ColorMap::Viridis, [0.0, 1.0])]));
    let tan = radius / (distance * distance - radius * radius).sqrt();
    let expected_px = tan * 0.5 * HEIGHT as f32 / 20_f32.to_radians().tan();
    let middle = 0.5 * Vec2::new(WIDTH as f32, HEIGHT as f32);
    let drawn = picture.drawn();
    // Exact per pixel, except for those whose centre lies within rounding of the circle.
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let away = (Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - middle).length() - expected_px;
            if away.abs() > 0.01 {
                let is_drawn = picture.at(x, y) != BACKGROUND_BYTES;
                assert_eq!(is_drawn, away < 0.0, "pixel {x}, {y} lies {away} px from the disc's edge");
            }
        }
    }
    let centroid = drawn.iter().fold(Vec2::ZERO, |sum, p| sum + *p) / drawn.len() as f32;
    assert!((centroid - middle).length() < 0.01, "{centroid}");
    studio.check();
}

/// Off the axis the outline is an ellipse: a point belongs to it if its ray passes the centre at a distance
/// of at most r.
#[test]
fn spheres_off_the_axis_are_exact_too_from_any_angle() {
    let mut studio = Studio::new();
    for (up_axis, azimuth_deg, elevation_deg) in
        [(UpAxis::Y, 0.0, 0.0), (UpAxis::Y, 70.0, 35.0), (UpAxis::Z, 200.0, -50.0), (UpAxis::X, 10.0, 89.0)]
    {
        let camera = OrbitCamera { azimuth_deg, elevation_deg, up_axis, vertical_fov_deg: 90.0, ..camera() };
        // A point that appears near the upper right corner, found by moving from the middle along camera
        // axes.
        let mut shifted = camera;
        shifted.pan(-0.55, -0.3);
        let (center, radius) = (shifted.target * -1.0, 0.7_f32);
        let set = studio.set(&[center], &[0.5], 1);
        let picture = studio.draw(&bare(camera, &[set.flat(radius, ColorMap::Viridis, [0.0, 1.0])]));
        let (pixel, depth) = camera.project(center, WIDTH, HEIGHT).unwrap();
        assert_ne!(picture.at_point(pixel), BACKGROUND_BYTES, "the centre's pixel is drawn: {camera:?}");
        // In camera axes with the plane of the picture at distance 1.
        let half = 0.5 * Vec2::new(WIDTH as f32, HEIGHT as f32);
        let on_plane = |p: Vec2| ((p - half) / half.y).extend(1.0);
        let center_in_camera = depth * on_plane(pixel);
        let mut disagreeing = 0;
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let ray = on_plane(Vec2::new(x as f32 + 0.5, y as f32 + 0.5)).normalize();
                let miss = center_in_camera.cross(ray).length() - radius;
                if miss.abs() > 1e-4 {
                    disagreeing += u32::from((picture.at(x, y) != BACKGROUND_BYTES) != (miss < 0.0));
                }
            }
        }
        assert_eq!(disagreeing, 0, "{camera:?}");
    }
    studio.check();
}

#[test]
fn the_nearer_sphere_hides_the_farther_whatever_their_order() {
    let mut studio = Studio::new();
    // Centres along the line of sight at z = 1 and z = −1; the eye is at z = 4.
    for (positions, nearer) in [([1.0, -1.0], 0.0), ([-1.0, 1.0], 1.0)] {
        let set = studio.set(&positions.map(|z| vec3(0.0, 0.0, z)), &[0.0, 1.0], 2);
        let picture = studio.draw(&bare(camera(), &[set.flat(0.5, ColorMap::Viridis, [0.0, 1.0])]));
        assert_near(picture.at(WIDTH / 2, HEIGHT / 2), ColorMap::Viridis.at(nearer), "nearer sphere");
    }
    studio.check();
}

/// Two spheres of radius 1 whose centres are 1 apart across the line of sight meet in the plane between them.
#[test]
fn spheres_that_cut_each_other_meet_where_their_surfaces_do() {
    let mut studio = Studio::new();
    let set = studio.set(&[vec3(-0.5, 0.0, 0.0), vec3(0.5, 0.0, 0.0)], &[0.0, 1.0], 2);
    let picture = studio.draw(&bare(camera(), &[set.flat(1.0, ColorMap::Viridis, [0.0, 1.0])]));
    for y in HEIGHT / 2 - 30..HEIGHT / 2 + 30 {
        assert_near(picture.at(WIDTH / 2 - 1, y), ColorMap::Viridis.at(0.0), "left of the meeting plane");
        assert_near(picture.at(WIDTH / 2, y), ColorMap::Viridis.at(1.0), "right of the meeting plane");
    }
    studio.check();
}

#[test]
fn flat_colors_are_the_map_s_at_the_ends_between_and_past_them() {
    let mut studio = Studio::new();
    let cases = [(2.0, 0.0), (3.0, 0.25), (4.0, 0.5), (6.0, 1.0), (-9.0, 0.0), (9.0, 1.0)];
    for map in ColorMap::ALL {
        for (value, t) in cases {
            let set = studio.set(&[Vec3::ZERO], &[value], 1);
            let picture = studio.draw(&bare(camera(), &[set.flat(0.5, map, [2.0, 6.0])]));
            assert_near(picture.at(WIDTH / 2, HEIGHT / 2), map.at(t), &format!("{map:?} at {value}"));
        }
    }
    let set = studio.set(&[Vec3::ZERO], &[f32::NAN], 1);
    let picture = studio.draw(&bare(camera(), &[set.flat(0.5, ColorMap::Vik, [2.0, 6.0])]));
    assert_near(picture.at(WIDTH / 2, HEIGHT / 2), [1.0, 0.0, 1.0], "a value that is not a number");
    studio.check();
}

#[test]
fn vectors_color_by_magnitude_and_integers_by_value() {
    let mut studio = Studio::new();
    let set = studio.set(&[Vec3::ZERO], &[0.0], 1);
    let vectors = studio.device.buffer_from("velocities", &[[2.0_f32, -3.0, 6.0]]).unwrap();
    let ids = studio.device.buffer_from("ids", &[70_000_u32]).unwrap();
    let cases = [(Column::Vector(&vectors), [0.0, 10.0], 0.7), (Column::Index(&ids), [0.0, 100_000.0], 0.7)];
    for (column, range, t) in cases {
        let coloring = Coloring::Mapped { column, map: ColorMap::Viridis, range };
        let particles = Particles { coloring, ..set.flat(0.5, ColorMap::Viridis, range) };
        let picture = studio.draw(&bare(camera(), &[particles]));
        assert_near(picture.at(WIDTH / 2, HEIGHT / 2), ColorMap::Viridis.at(t), &format!("{column:?}"));
    }
    studio.check();
}

#[test]
fn a_component_colors_by_its_distance_from_the_origin() {
    let mut studio = Studio::new();
    let set = studio.set(&[Vec3::ZERO], &[0.0], 1);
    let middle = Vec2::new(0.5 * WIDTH as f32, 0.5 * HEIGHT as f32);
    let records = studio.device.buffer_from("records", &[9.0, 9.0, 1.75, 9.0_f32]).unwrap();
    let column = Column::Component { numbers: &records, stride: 4, index: 2, origin: 1.5 };
    let coloring = Coloring::Mapped { column, map: ColorMap::Viridis, range: [0.0, 1.0] };
    let particles = [Particles { coloring, ..set.flat(0.3, ColorMap::Viridis, [0.0, 1.0]) }];
    let picture = studio.draw(&bare(camera(), &particles));
    assert_near(picture.at_point(middle), ColorMap::Viridis.at(0.25), "1.75 less 1.5");
    studio.check();
}

#[test]
fn spheres_with_radii_of_their_own_are_drawn_as_large_as_alone() {
    let mut studio = Studio::new();
    let centers = [vec3(-0.6, 0.0, 0.0), vec3(0.5, 0.1, 0.0)];
    let radii = [0.4_f32, 0.2];
    let set = studio.set(&centers, &[0.5, 0.5], 2);
    // Scaled by two relative to the buffer.
    let radii_m = studio.device.buffer_from("radii", &radii.map(|radius| 0.5 * radius)).unwrap();
    let radius = Radius::Each { radii_m: &radii_m, scale: 2.0, typical_m: 0.3 };
    let both = Particles { radius, ..set.flat(1.0, ColorMap::Viridis, [0.0, 1.0]) };
    let picture = studio.draw(&bare(camera(), &[both]));
    let alone = [0, 1].map(|i| studio.set(&[centers[i]], &[0.5], 1));
    let particles = [0, 1].map(|i| alone[i].flat(radii[i], ColorMap::Viridis, [0.0, 1.0]));
    assert!(picture.pixels == studio.draw(&bare(camera(), &particles)).pixels);
    studio.check();
}

#[test]
fn the_count_on_the_device_decides_how_many_are_drawn() {
    let mut studio = Studio::new();
    let positions = [-1.0, 0.0, 1.0].map(|x| vec3(x, 0.0, 0.0));
    for count in 0..=3 {
        let set = studio.set(&positions, &[0.0; 3], count);
        let picture = studio.draw(&bare(camera(), &[set.flat(0.2, ColorMap::Viridis, [0.0, 1.0])]));
        for (i, position) in positions.iter().enumerate() {
            let (pixel, _) = camera().project(*position, WIDTH, HEIGHT).unwrap();
            let is_drawn = picture.at_point(pixel) != BACKGROUND_BYTES;
            assert_eq!(is_drawn, (i as u32) < count, "particle {i} of {count}");
        }
        assert_eq!(picture.drawn().is_empty(), count == 0);
    }
    studio.check();
}

#[test]
fn spheres_behind_or_around_the_eye_or_not_finite_are_not_drawn() {
    let mut studio = Studio::new();
    let eye = camera().eye();
    let nowhere = vec3(f32::NAN, 0.0, 0.0);
    let set = studio.set(&[eye + Vec3::Z, eye + 0.05 * Vec3::X, nowhere], &[0.0; 3], 3);
    let picture = studio.draw(&bare(camera(), &[set.flat(0.2, ColorMap::Viridis, [0.0, 1.0])]));
    assert_eq!(picture.drawn(), []);
    studio.check();
}

/// Lit from above and from the front: brighter above than below, with the hue kept.
#[test]
fn lit_spheres_are_brighter_above_and_keep_their_hue() {
    let mut studio = Studio::new();
    let set = studio.set(&[Vec3::ZERO], &[0.5], 1);
    let lit = Particles { shading: Shading::Lit, ..set.flat(1.0, ColorMap::Viridis, [0.0, 1.0]) };
    let picture = studio.draw(&bare(camera(), &[lit]));
    let luma = |[r, g, b]: [u8; 3]| 0.2126 * f32::from(r) + 0.7152 * f32::from(g) + 0.0722 * f32::from(b);
    let (above, below) = (picture.at(WIDTH / 2, HEIGHT / 2 - 50), picture.at(WIDTH / 2, HEIGHT / 2 + 50));
    assert!(luma(above) > luma(below) + 40.0, "{above:?} above, {below:?} below");
    // The middle of viridis is a bluish green: the order of its components is kept outside highlights.
    let [r, g, b] = picture.at(WIDTH / 2 + 30, HEIGHT / 2);
    assert!(g > b && b > r, "{r} {g} {b}");
    studio.check();
}

#[test]
fn a_uniform_color_is_that_of_every_particle_and_needs_no_column() {
    let mut studio = Studio::new();
    let color = [0.9, 0.3, 0.1];
    let set = studio.set(&[vec3(-0.7, 0.0, 0.0), vec3(0.7, 0.0, 0.0)], &[], 2);
    let coloring = Coloring::Uniform(color);
    let particles = Particles { coloring, ..set.flat(0.5, ColorMap::Viridis, [0.0, 1.0]) };
    let picture = studio.draw(&bare(camera(), &[particles]));
    let drawn = picture.drawn();
    assert!(!drawn.is_empty());
    for pixel in drawn {
        assert_near(picture.at_point(pixel), color, "a uniform colour");
    }
    studio.check();
}

/// Snow and water of the same colour: snow has no highlight, and is brighter on the side away from the light.
#[test]
fn matte_spheres_do_not_shine_and_stay_bright_in_the_shade() {
    let mut studio = Studio::new();
    let set = studio.set(&[Vec3::ZERO], &[], 1);
    let mut draw = |shading| {
        let coloring = Coloring::Uniform([0.6; 3]);
        let particles = Particles { coloring, shading, ..set.flat(1.0, ColorMap::Viridis, [0.0, 1.0]) };
        studio.draw(&bare(camera(), &[particles]))
    };
    let (lit, matte) = (draw(Shading::Lit), draw(Shading::Matte));
    let greens = |picture: &Picture| -> Vec<u8> {
        picture.drawn().iter().map(|pixel| picture.at_point(*pixel)[1]).collect()
    };
    let (lit_greens, matte_greens) = (greens(&lit), greens(&matte));
    assert!(lit_greens.iter().max() > matte_greens.iter().max(), "no highlight");
    assert!(lit_greens.iter().min() < matte_greens.iter().min(), "a soft shade");
    let [r, _, b] = matte.at(WIDTH / 2 + 30, HEIGHT / 2 + 50);
    assert!(b > r, "the shade of snow is bluish: {r} and {b}");
    studio.check();
}

/// Each sphere on the ray absorbs its share in any draw order, and none hides what is in front of it.
#[test]
fn translucent_spheres_attenuate_light_layer_by_layer() {
    let mut studio = Studio::new();
    let color = [0.1, 0.4, 0.7];
    let layer = Shading::Translucent { percent: 30 };
    let middle = |studio: &mut Studio, centres: &[Vec3], solid: Option<Vec3>| {
        let water = studio.set(centres, &[], centres.len() as u32);
        let snow = studio.set(&[solid.unwrap_or(vec3(0.0, 50.0, 0.0))], &[], 1);
        let coloring = Coloring::Uniform(color);
        // Opaque particles are drawn first whatever the order of the sets.
        let particles = [
            Particles { coloring, shading: layer, ..water.flat(0.3, ColorMap::Viridis, [0.0, 1.0]) },
            Particles {
                coloring: Coloring::Uniform([1.0; 3]),
                ..snow.flat(0.3, ColorMap::Viridis, [0.0, 1.0])
            },
        ];
        studio.draw(&bare(camera(), &particles)).at(WIDTH / 2, HEIGHT / 2).map(f32::from)
    };
    let far = |picture: [f32; 3]| (picture[0] - f32::from(BACKGROUND_BYTES[0])).abs();
    let one = middle(&mut studio, &[Vec3::ZERO], None);
    let two = middle(&mut studio, &[vec3(0.0, 0.0, -1.0), vec3(0.0, 0.0, 1.0)], None);
    let swapped = middle(&mut studio, &[vec3(0.0, 0.0, 1.0), vec3(0.0, 0.0, -1.0)], None);
    assert!(far(one) > 5.0 && far(two) > 1.4 * far(one), "{one:?}, {two:?}");
    // Half a pixel off the axis the nearer sphere's highlight is slightly weaker: some steps of 255 in red.
    assert!((0..3).all(|c| (two[c] - swapped[c]).abs() <= 8.0), "{two:?} and {swapped:?}");
    let behind = middle(&mut studio, &[Vec3::ZERO], Some(vec3(0.0, 0.0, -1.0)));
    let before = middle(&mut studio, &[Vec3::ZERO], Some(vec3(0.0, 0.0, 1.0)));
    assert_eq!(before, [255.0; 3], "what stands before water is not tinted");
    assert!(behind[0] < 235.0, "what stands behind it is: {behind:?}");
    studio.check();
}

#[test]
fn swatches_show_their_colors_below_the_legend() {
    let mut studio = Studio::new();
    studio.renderer.resize(640, 360).unwrap();
    let swatches = [("snow", [0.9, 0.95, 1.0]), ("water", [0.1, 0.4, 0.7])]
        .map(|(label, color)| Swatch { label: label.into(), color });
    let legend =
        Legend { title: "speed".into(), unit: "m/s".into(), map: ColorMap::Viridis, range: [0.0, 2.0] };
    let alone = Frame { swatches: &swatches, ..bare(camera(), &[]) };
    let rows_of = |picture: &Picture, color: [f32; 3]| -> Vec<u32> {
        let expected = color.map(|c| (255.0 * c).round() as u8);
        let is_near = |p: Vec2| (0..3).all(|c| picture.at_point(p)[c].abs_diff(expected[c]) <= 1);
        picture.drawn().into_iter().filter(|p| is_near(*p)).map(|p| p.y as u32).collect()
    };
    let picture = studio.draw(&alone);
    let [snow, water] = [0, 1].map(|i: usize| rows_of(&picture, swatches[i].color));
    assert!(snow.len() > 50 && water.len() > 50, "{} and {} pixels", snow.len(), water.len());
    assert!(snow.iter().max() < water.iter().min(), "one below the other");
    let below = studio.draw(&Frame { legend: Some(&legend), ..alone });
    assert!(rows_of(&below, swatches[0].color).iter().min().unwrap() > &150, "below the legend");
    studio.check();
}

/// A pair of spheres that touch, with ambient occlusion in the gap between them.
#[test]
fn occlusion_darkens_the_gap_between_spheres_but_not_the_background() {
    let mut studio = Studio::new();
    let set = studio.set(&[vec3(-0.5, 0.0, 0.0), vec3(0.5, 0.0, 0.0)], &[0.75; 2], 2);
    let particles = [set.flat(0.5, ColorMap::Viridis, [0.0, 1.0])];
    let without = studio.draw(&bare(camera(), &particles));
    let with = studio.draw(&Frame { occlusion: 1.0, ..bare(camera(), &particles) });
    let gap = |picture: &Picture| u32::from(picture.at(WIDTH / 2 - 4, HEIGHT / 2)[1]);
    assert!(4 * gap(&with) < 3 * gap(&without), "{} with, {} without", gap(&with), gap(&without));
    assert_eq!(without.drawn(), with.drawn(), "only what is drawn is darkened");
    studio.check();
}

#[test]
fn a_wire_box_has_edges_between_its_projected_corners_and_hides_behind_spheres() {
    let mut studio = Studio::new();
    let (lo, hi) = (vec3(-0.9, -0.6, -0.5), vec3(0.9, 0.6, 0.5));
    let boxes = [WireBox::between(lo, hi)];
    let camera = OrbitCamera { azimuth_deg: 30.0, elevation_deg: 20.0, ..camera() };
    let frame = Frame { boxes: &boxes, ..bare(camera, &[]) };
    let picture = studio.draw(&frame);
    let on_edges = |picture: &Picture, from: Vec3, to: Vec3| {
        let points =
            (0..=20).map(|i| camera.project(from.lerp(to, i as f32 / 20.0), WIDTH, HEIGHT).unwrap().0);
        points.filter(|p| picture.at_point(*p) != BACKGROUND_BYTES).count()
    };
    let nearest = [vec3(hi.x, hi.y, hi.z), vec3(hi.x, lo.y, hi.z)];
    assert_eq!(on_edges(&picture, nearest[0], nearest[1]), 21);
    let farthest = [vec3(lo.x, hi.y, lo.z), vec3(lo.x, lo.y, lo.z)];
    assert_eq!(on_edges(&picture, farthest[0], farthest[1]), 21);
    assert!(picture.drawn().len() < (WIDTH * HEIGHT / 20) as usize, "lines, not faces");

    let ball = [Ball { center: Vec3::ZERO, radius_m: 0.55, color: [1.0, 1.0, 1.0] }];
    let hidden = studio.draw(&Frame { balls: &ball, occlusion: 0.0, ..frame });
    let middle_of_back_edge = vec3(0.0, lo.y, lo.z);
    let (pixel, _) = camera.project(middle_of_back_edge, WIDTH, HEIGHT).unwrap();
    let without_box = studio.draw(&Frame { balls: &ball, ..bare(camera, &[]) });
    assert_ne!(picture.at_point(pixel), BACKGROUND_BYTES);
    assert_eq!(hidden.at_point(pixel), without_box.at_point(pixel), "the edge is behind the ball");
    studio.check();
}

#[test]
fn the_ground_lies_below_the_horizon_and_fades_into_the_background() {
    let mut studio = Studio::new();
    let ground = Ground { center: vec3(0.0, -0.5, 0.0), extent_m: 5.0, cell_m: 0.5 };
    let camera = OrbitCamera { elevation_deg: 15.0, ..camera() };
    let picture = studio.draw(&Frame { ground: Some(ground), ..bare(camera, &[]) });
    let (pixel, _) = camera.project(ground.center + vec3(0.0, 0.0, 0.25), WIDTH, HEIGHT).unwrap();
    assert_ne!(picture.at_point(pixel), BACKGROUND_BYTES);
    let top = (0..WIDTH).all(|x| picture.at(x, 0) == BACKGROUND_BYTES);
    assert!(top, "above the horizon there is only background");
    let (far, _) = camera.project(ground.center - vec3(0.0, 0.0, 4.99), WIDTH, HEIGHT).unwrap();
    let found = picture.at_point(far);
    assert!((0..3).all(|c| found[c].abs_diff(BACKGROUND_BYTES[c]) <= 2), "{found:?} at the rim");
    studio.check();
}

#[test]
fn legend_and_caption_are_drawn_in_place_and_disappear_when_removed() {
    let mut studio = Studio::new();
    studio.renderer.resize(640, 360).unwrap();
    let legend =
        Legend { title: "speed".into(), unit: "m/s".into(), map: ColorMap::Viridis, range: [0.0, 2.0] };
    let with = Frame { legend: Some(&legend), caption: "dam_break   t = 0.25 s", ..bare(camera(), &[]) };
    let picture = studio.draw(&with);
    let upper_right =
        || (500..640).flat_map(|x| (0..200).map(move |y| (x, y))).map(|(x, y)| picture.at(x, y));
    for t in [0.1, 0.5, 0.9] {
        let expected = ColorMap::Viridis.at(t).map(|c| (255.0 * c) as u8);
        let found = upper_right().any(|p| (0..3).all(|c| p[c].abs_diff(expected[c]) <= 4));
        assert!(found, "the colour of {t} is in the bar");
    }
    assert!(picture.drawn().iter().any(|p| p.x < 200.0 && p.y > 300.0), "the caption is at the lower left");
    assert!(!picture.drawn().iter().any(|p| p.x < 400.0 && p.y < 300.0), "the rest is untouched");
    assert_eq!(studio.draw(&with).pixels, picture.pixels, "drawn again, the same picture");
    assert_eq!(studio.draw(&bare(camera(), &[])).drawn(), []);
    studio.check();
}

/// Coverage of a disc's edge pixels sums to its area far more precisely than a count of whole pixels.
#[test]
fn supersampling_smooths_edges_and_keeps_flat_colors_and_sizes() {
    let mut studio = Studio::new();
    let set = studio.set(&[Vec3::ZERO], &[1.0], 1);
    let particles = [set.flat(0.5, ColorMap::Viridis, [0.0, 1.0])];
    let frame = bare(camera(), &particles);
    let edge_shades = |picture: &Picture| {
        let solid = picture.at(WIDTH / 2, HEIGHT / 2);
        picture.drawn().iter().filter(|p| picture.at_point(**p) != solid).count()
    };
    let hard = studio.draw(&frame);
    assert_eq!(edge_shades(&hard), 0);
    studio.renderer.set_supersampling(3).unwrap();
    assert_eq!(studio.renderer.size(), (WIDTH, HEIGHT));
    let soft = studio.draw(&frame);
    assert!(edge_shades(&soft) > 100, "{} pixels in between", edge_shades(&soft));
    assert_near(soft.at(WIDTH / 2, HEIGHT / 2), ColorMap::Viridis.at(1.0), "inside");
    assert_eq!(soft.at(0, 0), BACKGROUND_BYTES);
    studio.renderer.set_supersampling(1).unwrap();
    assert_eq!(studio.draw(&frame).pixels, hard.pixels);
    assert!(studio.renderer.set_supersampling(0).is_err());
    studio.check();
}

/// The passes of a picture depend on each other through colour, depth and the copies between them.
#[test]
fn every_barrier_of_a_picture_is_needed_and_none_is_missing() {
    let mut studio = Studio::new();
    studio.renderer.set_supersampling(2).unwrap();
    let set = studio.set(&[Vec3::ZERO], &[0.5], 1);
    let particles = [set.flat(0.5, ColorMap::Viridis, [0.0, 1.0])];
    let frame = Frame { occlusion: 1.0, ..bare(camera(), &particles) };
    let device = studio.device.clone();
    let mut record = |barriers| {
        let options = RecorderOptions { trace: true, barriers, ..Default::default() };
        let mut recorder = device.recorder_with(options).unwrap();
        studio.renderer.record(&mut recorder, &frame).unwrap();
        (recorder.barrier_count(), find_hazards(recorder.events()))
    };
    let (barriers, hazards) = record(BarrierPlan::All);
    assert_eq!(hazards, []);
    assert!(device.validation().messages().is_empty());
    // Depth copied out, read and drawn to again; colour kept, copied out, read.
    assert_eq!(barriers, 4);
    for omitted in 0..barriers {
        let (_, hazards) = record(BarrierPlan::Omit(omitted));
        assert!(!hazards.is_empty(), "barrier {omitted} could be left out");
    }
    // Version 1.3.239 of the layer tracks the two copies that shaders read; it does not track dynamic
    // rendering.
    let planted = device.validation().take();
    assert!(planted.len() >= 2 && planted.iter().all(|m| m.id.starts_with("SYNC-HAZARD")), "{planted:#?}");
}

#[test]
fn a_column_that_is_too_short_is_refused_by_name() {
    let mut studio = Studio::new();
    let set = studio.set(&[Vec3::ZERO, Vec3::ONE], &[0.0], 2);
    let particles = [set.flat(0.5, ColorMap::Viridis, [0.0, 1.0])];
    let mut recorder = studio.device.recorder().unwrap();
    let error = studio.renderer.record(&mut recorder, &bare(camera(), &particles)).unwrap_err().to_string();
    assert!(error.contains("2 particles but 1 values") && error.contains("values"), "{error}");
}

#[test]
fn sizes_that_no_image_can_have_are_refused_and_keep_the_old_one() {
    let mut studio = Studio::new();
    for (width, height) in [(0, 100), (100, 0), (1 << 20, 100)] {
        let error = studio.renderer.resize(width, height).unwrap_err().to_string();
        assert!(error.contains("maxImageDimension2D"), "{error}");
        assert_eq!(studio.renderer.size(), (WIDTH, HEIGHT));
    }
    studio.check();
}
