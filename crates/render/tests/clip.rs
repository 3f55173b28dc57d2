//! Slices through particles: those whose centres are outside of a layer of space are not drawn.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use frazil_render::glam::Vec3;
use frazil_render::{Clip, Coloring, Frame, OrbitCamera, Particles, Projection, Radius, Renderer, Shading};
use frazil_testkit::own_device;
use frazil_vk::{DeviceCount, ReadbackRing};

const WIDTH: u32 = 160;
const HEIGHT: u32 = 120;

#[test]
fn particles_are_drawn_if_their_centres_are_in_the_layer() {
    let device = own_device();
    let mut renderer = Renderer::new(&device, WIDTH, HEIGHT).unwrap();
    let positions: [[f32; 3]; 3] = [[-0.5, 0.1, -0.2], [0.0, -0.3, 0.2], [0.5, 0.2, 0.4]];
    let buffer = device.buffer_from("positions", &positions).unwrap();
    let radii = device.buffer_from("radii", &[0.05_f32, 0.06, 0.07]).unwrap();
    let count = DeviceCount::new(&device, "particles", 3).unwrap();
    device.upload(&count.count, &[3]).unwrap();
    let camera = OrbitCamera { projection: Projection::Orthographic, ..OrbitCamera::default() };
    for radius in [Radius::Uniform(0.06), Radius::Each { radii_m: &radii, scale: 1.0, typical_m: 0.06 }] {
        let particles = [Particles {
            positions: &buffer,
            count: &count,
            max_count: u32::MAX,
            radius,
            coloring: Coloring::Uniform([1.0; 3]),
            shading: Shading::Flat,
        }];
        let mut drawn = |clip: Option<Clip>| -> Vec<bool> {
            let frame = Frame { camera, particles: &particles, clip, ..Frame::default() };
            let mut recorder = device.recorder().unwrap();
            renderer.record(&mut recorder, &frame).unwrap();
            let pending = ReadbackRing::new(&device).read_image(&mut recorder, renderer.image()).unwrap();
            device.submit(recorder).unwrap();
            let pixels = pending.wait().unwrap();
            let is_white = |position: &[f32; 3]| {
                let (pixel, _) = camera.project(Vec3::from(*position), WIDTH, HEIGHT).unwrap();
                pixels[(pixel.y as u32 * WIDTH + pixel.x as u32) as usize] & 0xff == 0xff
            };
            positions.iter().map(is_white).collect()
        };
        assert_eq!(drawn(None), [true; 3]);
        for axis in 0..3_u32 {
            let at = |place: usize| positions[place][axis as usize];
            // The borders belong to the layer.
            let range_m = [at(0).min(at(1)), at(0).max(at(1))];
            let expected: Vec<bool> =
                (0..3).map(|place| (range_m[0]..=range_m[1]).contains(&at(place))).collect();
            assert_eq!(drawn(Some(Clip { axis, range_m })), expected, "axis {axis}");
            assert_eq!(drawn(Some(Clip { axis, range_m: [0.9, 1.0] })), [false; 3], "axis {axis}");
        }
    }
    device.check_validation().unwrap();
}
