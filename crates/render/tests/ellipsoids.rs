//! Ellipsoids of a fluid's particles: against their twin, and in pictures.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod studio;

use frazil_kernels::Counts;
use frazil_reference::ellipsoids::{EllipsoidFit, MIN_NEIGHBOURS};
use frazil_render::glam::{Vec3, vec3};
use frazil_render::{
    Ellipsoid, EllipsoidOptions, Ellipsoids, Fluid, FluidMaterial, FluidSet, Frame, OrbitCamera, Projection,
    Smoothing, WATER_REFRACTIVE_INDEX,
};
use frazil_testkit::{Random, config, device};
use frazil_vk::{Buffer, Device, DeviceCount};
use proptest::prelude::*;
use studio::Studio;

const FIT: EllipsoidFit = EllipsoidFit { reach_m: 0.1, radius_m: 0.04, max_ratio: 4.0, center_share: 0.5 };

/// Side in m of the box that contains the particles.
const SIDE_M: f32 = 1.0;

struct Fitted {
    fit: Ellipsoids,
    count: DeviceCount,
}

impl Fitted {
    fn new(device: &Device, places: &[Vec3], max_ratio: f32) -> Self {
        let options = EllipsoidOptions {
            min_m: [0.0; 3],
            max_m: [SIDE_M; 3],
            reach_m: FIT.reach_m as f32,
            radius_m: FIT.radius_m as f32,
            max_ratio,
            center_share: FIT.center_share as f32,
        };
        let n = places.len() as u32;
        let fit = Ellipsoids::new(device, n, options).unwrap();
        let count = Counts::new(device).unwrap().upload(device, "count", n, n.max(1)).unwrap();
        let mut positions: Vec<[f32; 3]> = places.iter().map(Vec3::to_array).collect();
        positions.resize(positions.len().max(1), [0.0; 3]);
        let positions = device.buffer_from("positions", &positions).unwrap();
        let mut recorder = device.recorder().unwrap();
        fit.record(&mut recorder, &count, &positions).unwrap();
        device.submit(recorder).unwrap().wait().unwrap();
        Self { fit, count }
    }

    fn download(&self, device: &Device, n: usize) -> (Vec<[f32; 3]>, Vec<Ellipsoid>) {
        (
            device.download(self.fit.positions(), n).unwrap(),
            device.download(self.fit.ellipsoids(), n).unwrap(),
        )
    }
}

fn matrix(e: &Ellipsoid) -> [[f64; 3]; 3] {
    let ([xx, yy, zz], [xy, xz, yz]) = (e.diagonal.map(f64::from), e.off_diagonal.map(f64::from));
    [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
}

/// Returns places that are in the whole box, in a small part of it, in a plane, along a line, or all the
/// same.
fn places(n: usize, kind: usize, seed: u64) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    let mut unit = || random.unit();
    let of_kind = |x: Vec3| match kind {
        0 => x,
        1 => Vec3::splat(0.4) + 0.15 * x,
        2 => vec3(0.3 * x.x, 0.5, 0.3 * x.z),
        3 => vec3(0.2, 0.3 + 0.2 * x.x, 0.7),
        _ => Vec3::splat(0.5),
    };
    (0..n).map(|_| of_kind(vec3(unit(), unit(), unit()))).collect()
}

proptest! {
    #![proptest_config(config(24))]

    /// G and centre agree with the twin, which sums and decomposes in f64. Errors of the covariance of f32
    /// sums over some hundred neighbours, 1e-6 of its norm, act on G by less than its condition, max_ratio² =
    /// 16.
    #[test]
    fn ellipsoids_agree_with_their_twin(
        n in prop_oneof![Just(0usize), Just(1), Just(255), Just(256), Just(257), 2usize..600],
        kind in 0usize..5,
        seed in any::<u64>(),
    ) {
        let device = device();
        let fitted = Fitted::new(&device, &places(n, kind, seed), FIT.max_ratio as f32);
        let (position, found) = fitted.download(&device, n);
        for (i, found) in found.iter().enumerate() {
            let distances = position.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, other)| {
                (Vec3::from(*other) - Vec3::from(position[i])).length() / FIT.reach_m as f32
            });
            let n_near = distances.clone().filter(|q| *q < 1.0).count();
            let is_border = distances.clone().any(|q| (q - 1.0).abs() < 1e-5);
            // Rounding decides whether a neighbour counts, or whether the places differ at all.
            let spread = distances.filter(|q| *q < 1.0).fold(0.0, f32::max);
            if n_near.abs_diff(MIN_NEIGHBOURS) <= 1 && is_border || spread < 1e-3 {
                continue;
            }
            let expected = FIT.fit(&position, i);
            let (g, scale) = (matrix(found), 4.0 / FIT.radius_m);
            for (a, b) in g.iter().flatten().zip(expected.shape_1_m.iter().flatten()) {
                prop_assert!((a - b).abs() <= 2e-4 * scale, "{} of {}: {:?} {:?}", i, n, g, expected);
            }
            for (a, b) in found.center.into_iter().zip(expected.center) {
                prop_assert!((f64::from(a) - b).abs() <= 1e-6, "{} of {}: {:?} {:?}", i, n, found, expected);
            }
            prop_assert!((f64::from(found.reach_m) / expected.reach_m - 1.0).abs() < 1e-3);
        }
    }
}

/// A lattice has spheres inside. At its faces ellipsoids are flat, and none is flatter than the bound; all
/// have the volume of the sphere.
#[test]
fn ellipsoids_are_flat_at_faces_and_spheres_inside() {
    let device = device();
    let places: Vec<Vec3> = (0..1000u32)
        .map(|i| Vec3::splat(0.3) + 0.05 * vec3((i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32))
        .collect();
    let (position, ellipsoids) = Fitted::new(&device, &places, 4.0).download(&device, places.len());
    for (x, e) in position.iter().zip(&ellipsoids) {
        let from_face = x.map(|x| ((x - 0.3).min(0.75 - x) / 0.05).round());
        let stretch = f64::from(e.reach_m) / FIT.radius_m;
        let g = matrix(e);
        let determinant = g[0][0] * (g[1][1] * g[2][2] - g[1][2] * g[2][1])
            - g[0][1] * (g[1][0] * g[2][2] - g[1][2] * g[2][0])
            + g[0][2] * (g[1][0] * g[2][1] - g[1][1] * g[2][0]);
        assert!((determinant * FIT.radius_m.powi(3) - 1.0).abs() < 1e-3, "{determinant}");
        if from_face.iter().all(|layer| *layer >= 2.0) {
            assert!((stretch - 1.0).abs() < 1e-3, "{x:?} {stretch}");
        }
        if from_face[1] == 0.0 && from_face[0] >= 2.0 && from_face[2] >= 2.0 {
            let [along, normal] = [1.0 / g[0][0], 1.0 / g[1][1]];
            assert!(along > 1.5 * normal && along < 4.001 * normal, "{x:?} {along} {normal}");
        }
    }
}

/// Returns the root mean square of the height in m of a pool's surface about its mean, as drawn without a
/// filter.
fn roughness(max_ratio: Option<f32>) -> f64 {
    let mut studio = Studio::new(128, 128);
    let mut random = Random::new(7);
    let mut jitter = || 0.3 * 0.05 * (2.0 * random.unit() - 1.0);
    let mut places = Vec::new();
    for i in 0..20 * 20 * 6u32 {
        let lattice = vec3((i % 20) as f32, (i / 400) as f32, (i / 20 % 20) as f32);
        places.push(vec3(jitter(), jitter(), jitter()) + Vec3::splat(0.025) + 0.05 * lattice);
    }
    let fitted = Fitted::new(&studio.device, &places, max_ratio.unwrap_or(1.0));
    let set = FluidSet {
        positions: fitted.fit.positions(),
        count: &fitted.count,
        max_count: u32::MAX,
        radius_m: FIT.radius_m as f32,
        ellipsoids: max_ratio.map(|_| fitted.fit.ellipsoids()),
        volume_m3: 0.05f32.powi(3),
    };
    let smoothing = Smoothing { passes: 0, ..Smoothing::narrow_range(0.05, 0.15) };
    let material =
        FluidMaterial { absorption_1_m: [1.0; 3], color: [0.2; 3], refractive_index: WATER_REFRACTIVE_INDEX };
    let sets = [set];
    let fluid = Fluid { sets: &sets, material, smoothing, surroundings: None };
    // From straight above, the middle half of the pool.
    let camera = OrbitCamera {
        azimuth_deg: 0.0,
        elevation_deg: 89.9,
        target: vec3(0.5, 0.3, 0.5),
        distance_m: 1.0,
        projection: Projection::Orthographic,
        vertical_fov_deg: 2.0 * 0.25f32.atan().to_degrees(),
        ..OrbitCamera::default()
    };
    studio.draw(&Frame { camera, fluid: Some(fluid), ..Frame::default() });
    let images = studio.renderer.fluid_images().unwrap();
    let distances: Buffer<f32> = images.distance_m.clone();
    let distances = studio.device.download(&distances, 128 * 128).unwrap();
    assert!(distances.iter().all(|z| *z < 10.0), "the pool has no hole");
    let mean = distances.iter().map(|z| f64::from(*z)).sum::<f64>() / distances.len() as f64;
    let square = distances.iter().map(|z| (f64::from(*z) - mean).powi(2)).sum::<f64>();
    studio.check();
    (square / distances.len() as f64).sqrt()
}

#[test]
fn a_pool_of_ellipsoids_is_smoother_than_one_of_spheres() {
    let [spheres, ratio_of_one, ellipsoids] = [None, Some(1.0), Some(4.0)].map(roughness);
    println!("roughness {spheres:.5} m, centres moved {ratio_of_one:.5} m, ellipsoids {ellipsoids:.5} m");
    assert!(ratio_of_one < spheres, "{ratio_of_one} {spheres}");
    // Half-axes along the normal are 0.6 of the radius where the ratio is 2: so are the bumps between them.
    assert!(ellipsoids < 0.7 * spheres, "{ellipsoids} {spheres}");
}

#[test]
fn more_particles_than_the_capacity_are_refused() {
    let device = device();
    let few = Fitted::new(&device, &places(10, 0, 1), 4.0);
    let count = Counts::new(&device).unwrap().upload(&device, "count", 20, 20).unwrap();
    let positions = device.buffer_from("positions", &[[0.5f32; 3]; 20]).unwrap();
    let mut recorder = device.recorder().unwrap();
    let error = few.fit.record(&mut recorder, &count, &positions).unwrap_err().to_string();
    assert!(error.contains("ellipsoids") && error.contains("20"), "{error}");
}
