//! Surfaces of particles, solids and pieces: sizes, visibility, and no truncation on overflow.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod studio;

use frazil_kernels::Counts;
use frazil_reference::render::interpolated_density;
use frazil_reference::surface::{euler_characteristics, splat_densities};
use frazil_render::glam::{DVec3, Quat, Vec3, vec3};
use frazil_render::{
    Coloring, Frame, Light, Material, Mesh, OrbitCamera, ParticleSurface, Particles, PieceShapes, Pieces,
    Projection, Radius, Shading, Solid, SolidShape, SurfaceOptions, Terrain, UpAxis,
};
use frazil_vk::{Buffer, DeviceCount};
use std::f32::consts::PI;
use studio::{Picture, Studio, assert_each_barrier_is_needed, display, linear};

const MAGENTA: [f32; 3] = [1.0, 0.0, 1.0];

const OPTIONS: SurfaceOptions = SurfaceOptions {
    min_m: [-16.0; 3],
    max_m: [16.0; 3],
    cell_m: 1.0,
    particle_mass_kg: 1.0,
    level_kg_m3: 0.5,
};

fn upload(studio: &Studio, places: &[Vec3]) -> (DeviceCount, Buffer<[f32; 3]>) {
    let positions: Vec<[f32; 3]> = places.iter().map(Vec3::to_array).collect();
    let n = places.len() as u32;
    let count = Counts::new(&studio.device).unwrap().upload(&studio.device, "count", n, n.max(1)).unwrap();
    (count, studio.device.buffer_from("positions", &positions).unwrap())
}

fn lattice(half: i32, keep: impl Fn(Vec3) -> bool) -> Vec<Vec3> {
    let line = -half..half;
    let all = line.clone().flat_map(|x| line.clone().map(move |y| (x, y)));
    let all = all.flat_map(|(x, y)| line.clone().map(move |z| vec3(x as f32, y as f32, z as f32) + 0.5));
    all.filter(|place| keep(*place)).collect()
}

/// Samples random positions in a box.
fn scattered(n: usize, half_m: f32) -> Vec<Vec3> {
    let place = |i: usize| {
        let mut bits = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits ^= bits >> 31;
        bits = bits.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let share = |axis: u32| (bits >> (20 * axis) & 0xfffff) as f32 / (1 << 20) as f32;
        half_m * (2.0 * vec3(share(0), share(1), share(2)) - 1.0)
    };
    (0..n).map(place).collect()
}

fn orthographic(height_m: f32) -> OrbitCamera {
    let vertical_fov_deg = 40.0_f32;
    OrbitCamera {
        distance_m: 0.5 * height_m / (0.5 * vertical_fov_deg.to_radians()).tan(),
        vertical_fov_deg,
        azimuth_deg: 0.0,
        elevation_deg: 0.0,
        up_axis: UpAxis::Z,
        projection: Projection::Orthographic,
        ..OrbitCamera::default()
    }
}

fn covered(picture: &Picture) -> usize {
    picture.pixels.iter().filter(|pixel| pixel.to_le_bytes()[..3] != [255, 0, 255]).count()
}

/// The surface of a filled ball of particles is where the density is half of that inside, and its silhouette
/// has the area of a circle.
#[test]
fn the_surface_of_a_ball_has_its_silhouette() {
    let mut studio = Studio::new(400, 400);
    for radius in [6.0_f32, 9.5] {
        let (count, position) = upload(&studio, &lattice(12, |place| place.length() <= radius));
        let mut surface = ParticleSurface::new(&studio.device, count.capacity, OPTIONS).unwrap();
        let found = surface.find(&count, &position).unwrap();
        assert!(found.triangles > 100 && found.spray < count.capacity / 20, "{found:?}");
        let camera = OrbitCamera { azimuth_deg: 20.0, elevation_deg: 10.0, ..orthographic(24.0) };
        let meshes = [surface.mesh(Material::Snow, [1.0; 3])];
        let frame = Frame { camera, background: MAGENTA, meshes: &meshes, ..Frame::default() };
        let picture = studio.draw(&frame);
        let area_m2 = covered(&picture) as f32 * (24.0_f32 / 400.0).powi(2);
        let expected = PI * radius * radius;
        assert!((area_m2 / expected - 1.0).abs() < 0.05, "{area_m2} m² of {expected}");
        // A repetition gives the same bits.
        surface.find(&count, &position).unwrap();
        let meshes = [surface.mesh(Material::Snow, [1.0; 3])];
        let again = studio.draw(&Frame { camera, background: MAGENTA, meshes: &meshes, ..Frame::default() });
        assert!(picture.pixels == again.pixels);
    }
    studio.check();
}

/// With far more blocks and triangles than the initial capacity, all are present in the end, and each lone
/// particle has a closed surface.
#[test]
fn capacity_overflow_never_truncates_a_surface() {
    let studio = Studio::new(16, 16);
    let lone: Vec<Vec3> = lattice(15, |place| (0..3).all(|axis| (place[axis] - 0.5).rem_euclid(5.0) == 0.0));
    let n = lone.len();
    assert!(n > 200, "{n}");
    let (count, position) = upload(&studio, &lone);
    let options = SurfaceOptions { level_kg_m3: 0.1, ..OPTIONS };
    let mut surface = ParticleSurface::new(&studio.device, n as u32, options).unwrap();
    let small = surface.bytes();
    let found = surface.find(&count, &position).unwrap();
    assert!(surface.bytes() > small, "the first capacity sufficed: {found:?}");
    assert_eq!(found.spray, 0);
    let triangles =
        studio.device.download(surface.marching_cubes().triangle(), found.triangles as usize).unwrap();
    assert_eq!(euler_characteristics(found.vertices as usize, &triangles).unwrap(), vec![2; n]);
    // Above the density of a lone particle there is no surface, and all particles are spray.
    let options = SurfaceOptions { level_kg_m3: 0.5, ..OPTIONS };
    let mut surface = ParticleSurface::new(&studio.device, n as u32, options).unwrap();
    let found = surface.find(&count, &position).unwrap();
    assert_eq!((found.spray, found.triangles, found.vertices), (n as u32, 0, 0));
    studio.check();
}

/// Spray agrees with the twin's densities for any number and density of particles.
#[test]
fn spray_agrees_with_the_twin() {
    let studio = Studio::new(16, 16);
    for (n, half_m) in
        [(0, 8.0), (1, 8.0), (2, 8.0), (127, 3.0), (128, 2.5), (129, 4.0), (1000, 6.0), (3000, 5.0)]
    {
        let places = scattered(n, half_m);
        let (count, position) = upload(&studio, &places);
        let mut surface = ParticleSurface::new(&studio.device, count.capacity, OPTIONS).unwrap();
        let found = surface.find(&count, &position).unwrap();
        let wide: Vec<_> = places.iter().map(|place| (place.as_dvec3(), 1.0)).collect();
        // The device's lattice begins four cells before the box.
        let origin = DVec3::splat(-20.0);
        let nodes = splat_densities(origin, 1.0, &wide, 2.0);
        let level = f64::from(OPTIONS.level_kg_m3);
        let density = |place: &Vec3| interpolated_density(&nodes, place.as_dvec3() - origin);
        let sprays = studio.device.download(surface.spray(), found.spray as usize).unwrap();
        let is_found = |place: &Vec3| sprays.contains(&place.to_array());
        let mut n_spray = 0;
        for place in &places {
            let off = density(place) - level;
            if off.abs() > 1e-5 {
                // Rounding of positions in cells and of sums.
                assert_eq!(is_found(place), off < 0.0, "{n} particles: {place} with {} kg/m³", off + level);
            }
            n_spray += u32::from(is_found(place));
        }
        assert_eq!(n_spray, found.spray, "{n} particles");
        if n == 1000 {
            assert!(n_spray > 50 && n_spray < 950, "{n_spray} of 1000 are spray");
        }
    }
    studio.check();
}

/// Nearer objects hide those behind them in any draw order: sprites, surfaces, solids, pieces and terrain.
#[test]
fn the_nearest_is_seen_of_sprites_surfaces_solids_pieces_and_terrain() {
    let mut studio = Studio::new(64, 64);
    let (count, body) = upload(&studio, &lattice(3, |_| true));
    let mut surface = ParticleSurface::new(&studio.device, count.capacity, OPTIONS).unwrap();
    surface.find(&count, &body).unwrap();
    let terrain = Terrain::new(&studio.device, 17, 2.0, &[0.0; 17 * 17]).unwrap();
    let half = [Vec3::X, Vec3::Y, Vec3::Z];
    let cube = |z: f32| {
        let shape = SolidShape::cuboid(vec3(0.3, 0.2, z), half);
        Solid::new(&studio.device, &shape, [1.0, 0.0, 0.0]).unwrap()
    };
    let corners: Vec<[f32; 3]> = vec![[-2.0, -2.0, 0.0], [2.0, -2.0, 0.0], [2.0, 2.0, 0.0], [-2.0, 2.0, 0.0]];
    let faces = vec![vec![0, 1, 2, 3]];
    let shapes = PieceShapes::new(&studio.device, [(corners, faces.as_slice())]).unwrap();
    // Seen from above, with the terrain's origin moved under the centre of the picture.
    let camera =
        OrbitCamera { elevation_deg: 89.0, distance_m: 60.0, up_axis: UpAxis::Z, ..OrbitCamera::default() };
    let (solids, device) = ([cube(-8.0), cube(8.0)], studio.device.clone());
    let mut shade = |sprite_z: Option<f32>, solid: usize, piece_z: Option<f32>, with_terrain: bool| {
        let sprite = device.buffer_from("sprite", &[[0.0, 0.0, sprite_z.unwrap_or(-50.0)]]).unwrap();
        let one = Counts::new(&device).unwrap().upload(&device, "one", 1, 1).unwrap();
        let particles = [Particles {
            positions: &sprite,
            count: &one,
            max_count: u32::MAX,
            radius: Radius::Uniform(1.0),
            coloring: Coloring::Uniform([0.0, 1.0, 0.0]),
            shading: Shading::Flat,
        }];
        let centre = device.buffer_from("centre", &[[0.0, 0.0, piece_z.unwrap_or(-60.0)]]).unwrap();
        let rotation = device.buffer_from("rotation", &[[0.0, 0.0, 0.0, 1.0_f32]]).unwrap();
        let pieces =
            [Pieces { shapes: &shapes, centre: &centre, rotation: &rotation, color: [0.0, 0.0, 1.0] }];
        let meshes = [solids[solid].mesh(), surface.mesh(Material::Snow, [1.0; 3])];
        let frame = Frame {
            camera,
            background: MAGENTA,
            particles: &particles,
            meshes: &meshes,
            pieces: &pieces,
            terrain: with_terrain.then_some(&terrain),
            ..Frame::default()
        };
        let [r, g, b] = studio.draw(&frame).at(32, 32);
        match (r, g, b) {
            (0, 255, 0) => "sprite",
            (r, 0, 0) if r > 0 => "solid",
            (0, 0, b) if b > 0 => "piece",
            (r, g, b) if r.abs_diff(g) < 60 && b >= g && b > 60 => "snow",
            _ => "none",
        }
    };
    assert_eq!(shade(None, 0, None, false), "snow");
    assert_eq!(shade(Some(6.0), 0, None, false), "sprite");
    assert_eq!(shade(Some(-6.0), 0, None, false), "snow");
    assert_eq!(shade(Some(6.0), 1, None, false), "solid");
    assert_eq!(shade(Some(6.0), 1, Some(12.0), false), "piece");
    assert_eq!(shade(Some(20.0), 1, Some(12.0), false), "sprite");
    assert_eq!(shade(Some(20.0), 1, Some(12.0), true), "sprite");
    assert_eq!(shade(None, 0, Some(5.0), false), "piece");
    studio.check();
}

/// A terrain hides what is below it and nothing above.
#[test]
fn a_terrain_hides_what_is_under_it() {
    let mut studio = Studio::new(64, 64);
    let terrain = Terrain::new(&studio.device, 17, 2.0, &[0.0; 17 * 17]).unwrap();
    let camera = OrbitCamera {
        target: vec3(16.0, 16.0, 0.0),
        elevation_deg: 89.0,
        distance_m: 40.0,
        up_axis: UpAxis::Z,
        ..OrbitCamera::default()
    };
    for (z, is_seen) in [(-1.5, false), (0.0, true), (3.0, true)] {
        let (count, sprite) = upload(&studio, &[vec3(16.0, 16.0, z)]);
        let particles = [Particles {
            positions: &sprite,
            count: &count,
            max_count: u32::MAX,
            radius: Radius::Uniform(1.0),
            coloring: Coloring::Uniform([0.0, 1.0, 0.0]),
            shading: Shading::Flat,
        }];
        let frame = Frame { camera, particles: &particles, terrain: Some(&terrain), ..Frame::default() };
        assert_eq!(studio.draw(&frame).at(32, 32) == [0, 255, 0], is_seen, "{z}");
    }
    studio.check();
}

/// The picture of a square plate, rotated and moved by its buffers, has the area and position that the pose
/// gives.
#[test]
fn pieces_are_drawn_where_their_poses_have_them() {
    let mut studio = Studio::new(320, 320);
    let square: Vec<[f32; 3]> = vec![[-2.0, -1.0, 0.0], [2.0, -1.0, 0.0], [2.0, 1.0, 0.0], [-2.0, 1.0, 0.0]];
    let faces = vec![vec![0, 1, 2, 3]];
    let shapes = PieceShapes::new(&studio.device, [(square, faces.as_slice())]).unwrap();
    let camera = orthographic(16.0);
    // Seen along +y: a face towards z is seen edge-on until it is rotated about x.
    for (angle, centre) in
        [(0.5 * PI, vec3(0.0, 0.0, 0.0)), (0.25 * PI, vec3(2.0, 5.0, -3.0)), (1.2, vec3(-3.0, -1.0, 2.0))]
    {
        let turn = Quat::from_rotation_z(0.0) * Quat::from_rotation_x(angle);
        let centres = studio.device.buffer_from("centre", &[centre.to_array()]).unwrap();
        let rotations = studio.device.buffer_from("rotation", &[turn.to_array()]).unwrap();
        let pieces =
            [Pieces { shapes: &shapes, centre: &centres, rotation: &rotations, color: [0.6, 0.8, 0.9] }];
        let picture =
            studio.draw(&Frame { camera, background: MAGENTA, pieces: &pieces, ..Frame::default() });
        let area_m2 = covered(&picture) as f32 * (16.0_f32 / 320.0).powi(2);
        let expected = 8.0 * angle.sin();
        assert!((area_m2 - expected).abs() < 0.15, "{angle}: {area_m2} m², expected {expected}");
        let (pixel, _) = camera.project(centre, 320, 320).unwrap();
        assert_ne!(picture.at(pixel.x as u32, pixel.y as u32), [255, 0, 255], "{angle}");
    }
    let one = studio.device.buffer_from("centre", &[[0.0_f32; 3]]).unwrap();
    let none = studio.device.buffer::<[f32; 4]>("rotation", 0).unwrap();
    let pieces = [Pieces { shapes: &shapes, centre: &one, rotation: &none, color: [0.5; 3] }];
    let mut recorder = studio.device.recorder().unwrap();
    let frame = Frame { pieces: &pieces, ..Frame::default() };
    let refused = studio.renderer.record(&mut recorder, &frame).unwrap_err().to_string();
    assert!(refused.contains("0 of them, expected 1"), "{refused}");
    let refused =
        PieceShapes::new(&studio.device, [(vec![[0.0; 3]], faces.as_slice())]).unwrap_err().to_string();
    assert!(refused.contains("[0, 1, 2, 3]"), "{refused}");
    studio.check();
}

/// Solids have the silhouettes of the bodies that they represent.
#[test]
fn boxes_and_cylinders_have_their_silhouettes() {
    let mut studio = Studio::new(320, 320);
    let cuboid = SolidShape::cuboid(vec3(1.0, 0.0, 0.5), [1.5 * Vec3::X, 2.0 * Vec3::Y, 0.5 * Vec3::Z]);
    let cylinder = SolidShape::cylinder(vec3(0.0, 0.0, -2.0), 1.5, 5.0, UpAxis::Z);
    let triangle = SolidShape::flat([[Vec3::ZERO, 4.0 * Vec3::X, 3.0 * Vec3::Z]]);
    for (shape, from_side_m2, from_above_m2) in
        [(cuboid, 3.0 * 1.0, 3.0 * 4.0), (cylinder, 3.0 * 5.0, PI * 1.5 * 1.5), (triangle, 6.0, 0.0)]
    {
        let solid = Solid::new(&studio.device, &shape, [0.5, 0.4, 0.3]).unwrap();
        let meshes = [solid.mesh()];
        for (elevation_deg, expected) in [(0.0, from_side_m2), (90.0, from_above_m2)] {
            let camera = OrbitCamera { elevation_deg, ..orthographic(12.0) };
            let picture =
                studio.draw(&Frame { camera, background: MAGENTA, meshes: &meshes, ..Frame::default() });
            let area_m2 = covered(&picture) as f32 * (12.0_f32 / 320.0).powi(2);
            assert!((area_m2 - expected).abs() < 0.03 * expected + 0.15, "{area_m2} m², expected {expected}");
        }
    }
    studio.check();
}

#[test]
fn invalid_surfaces_are_refused_and_surfaces_without_particles_are_empty() {
    let studio = Studio::new(16, 16);
    for options in [
        SurfaceOptions { cell_m: 0.0, ..OPTIONS },
        SurfaceOptions { level_kg_m3: f32::NAN, ..OPTIONS },
        SurfaceOptions { particle_mass_kg: -1.0, ..OPTIONS },
        SurfaceOptions { cell_m: 1e-4, ..OPTIONS },
    ] {
        assert!(ParticleSurface::new(&studio.device, 10, options).is_err(), "{options:?}");
    }
    let (count, position) = upload(&studio, &scattered(20, 3.0));
    let mut small = ParticleSurface::new(&studio.device, 10, OPTIONS).unwrap();
    let refused = small.find(&count, &position).unwrap_err().to_string();
    assert!(refused.contains("holds 10 elements, 20 are required"), "{refused}");
    studio.check();
}

/// For stone, snow and spray under the sun, the shade of a face towards the camera follows from the sun's
/// direction, and its attenuation by fog from the distance.
#[test]
fn faces_of_known_normal_have_their_shade_and_fog_between() {
    let mut studio = Studio::new(64, 64);
    let light =
        Light { fog_color: [0.2, 0.6, 0.4], fog_per_m: 0.03, ..Light::from_sun(UpAxis::Z, 30.0, 50.0) };
    let albedo = vec3(0.8, 0.6, 0.4);
    let plate = SolidShape::cuboid(Vec3::ZERO, [9.0 * Vec3::X, 9.0 * Vec3::Z, 8.0 * Vec3::Y]);
    let solid = Solid::new(&studio.device, &plate, albedo.to_array()).unwrap();
    let (count, position) = upload(&studio, &[Vec3::ZERO]);
    let sphere = Particles {
        positions: &position,
        count: &count,
        max_count: u32::MAX,
        radius: Radius::Uniform(8.0),
        coloring: Coloring::Uniform(albedo.to_array()),
        shading: Shading::Sunlit,
    };
    // The camera looks along +y: at the plate's face, and at the middle of the sphere, eight metres before
    // the origin.
    let normal = Vec3::NEG_Y;
    let shade = |wrap: f32| {
        let ambient = vec3(0.14, 0.16, 0.19).lerp(vec3(0.24, 0.31, 0.43), 0.5);
        let key = ((normal.dot(light.to_sun) + wrap) / (1.0 + wrap)).max(0.0);
        (linear(albedo) * (ambient + key * vec3(0.98, 0.92, 0.82))).min(Vec3::ONE)
    };
    for distance_m in [20.0, 60.0] {
        let camera = OrbitCamera {
            azimuth_deg: 0.0,
            elevation_deg: 0.0,
            up_axis: UpAxis::Z,
            distance_m,
            ..OrbitCamera::default()
        };
        let stone = [solid.mesh()];
        let snow = [Mesh { material: Material::Snow, ..solid.mesh() }];
        let spheres = [sphere.clone()];
        let frame = Frame { camera, light, ..Frame::default() };
        let cases = [
            ("stone", Frame { meshes: &stone, ..frame.clone() }, 0.0),
            ("snow", Frame { meshes: &snow, ..frame.clone() }, 0.3),
            ("spray", Frame { particles: &spheres, ..frame.clone() }, 0.3),
        ];
        for (name, frame, wrap) in cases {
            let found = studio.draw(&frame).at(32, 32);
            let arrives = (-0.03 * (distance_m - 8.0)).exp();
            let expected = display(linear(vec3(0.2, 0.6, 0.4)).lerp(shade(wrap), arrives));
            for c in 0..3 {
                let off = (f32::from(found[c]) - 255.0 * expected[c]).abs();
                assert!(off <= 2.5, "{name} from {distance_m} m: {found:?}, expected {}", 255.0 * expected);
            }
        }
    }
    // Fog covers lit and matte spheres, not flat ones.
    let camera = OrbitCamera {
        distance_m: 200.0,
        up_axis: UpAxis::Z,
        vertical_fov_deg: 1.0,
        ..OrbitCamera::default()
    };
    for (shading, is_fogged) in
        [(Shading::Flat, false), (Shading::Lit, true), (Shading::Matte, true), (Shading::Sunlit, true)]
    {
        let spheres = [Particles { shading, ..sphere.clone() }];
        let found = studio.draw(&Frame { camera, light, particles: &spheres, ..Frame::default() }).at(32, 32);
        let expected = if is_fogged { vec3(0.2, 0.6, 0.4) } else { albedo };
        let off = (0..3).map(|c| (f32::from(found[c]) - 255.0 * expected[c]).abs()).fold(0.0, f32::max);
        assert!(off < 3.0, "{shading:?}: {found:?}");
    }
    studio.check();
}

/// Densities at nodes, cubes, spray and the picture of the surface.
#[test]
fn every_barrier_of_a_surface_is_needed_and_none_is_missing() {
    let mut studio = Studio::new(64, 64);
    let (count, position) = upload(&studio, &lattice(5, |place| place.length() <= 4.0));
    let mut surface = ParticleSurface::new(&studio.device, count.capacity, OPTIONS).unwrap();
    surface.find(&count, &position).unwrap();
    let meshes = [surface.mesh(Material::Snow, [1.0; 3])];
    let frame = Frame { camera: orthographic(24.0), meshes: &meshes, ..Frame::default() };
    let device = studio.device.clone();
    assert_each_barrier_is_needed(&device, |recorder| {
        surface.record(recorder, &count, &position).unwrap();
        studio.renderer.record(recorder, &frame).unwrap();
    });
}
