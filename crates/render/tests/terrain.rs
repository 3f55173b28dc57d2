//! Terrains: the error of the drawn surface, cracks, light and fog.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod studio;

use frazil_reference::render::terrain_triangles;
use frazil_render::glam::{Vec3, vec3};
use frazil_render::{Chunk, Frame, Light, OrbitCamera, Projection, Terrain, UpAxis};
use std::collections::BTreeMap;
use studio::{Studio, display, linear};

/// Samples heights with detail at all scales, without a pattern that a grid could hide.
fn rough(n: [u32; 2], steepness: f32) -> Vec<f32> {
    let height = |x: u32, y: u32| -> f32 {
        let (x, y) = (x as f32, y as f32);
        let octave = |k: i32| {
            let (f, a) = (1.7_f32.powi(k), 0.62_f32.powi(k));
            a * ((0.031 * f * x + 1.3 * k as f32).sin() * (0.027 * f * y - 0.7 * k as f32).cos())
        };
        steepness * 12.0 * (0..8).map(octave).sum::<f32>()
    };
    (0..n[1]).flat_map(|y| (0..n[0]).map(move |x| (x, y))).map(|(x, y)| height(x, y)).collect()
}

/// Creates a low camera in front of one corner, with all of a square terrain in view.
fn from_the_corner(side_m: f32) -> OrbitCamera {
    let distance_m = 0.8 * side_m;
    let mut camera = OrbitCamera {
        azimuth_deg: -45.0,
        elevation_deg: 22.0,
        vertical_fov_deg: 95.0,
        up_axis: UpAxis::Z,
        distance_m,
        ..OrbitCamera::default()
    };
    let eye = vec3(-0.1 * side_m, -0.1 * side_m, 0.18 * side_m);
    camera.target = camera.target + eye - camera.eye();
    camera
}

/// Returns the non-degenerate triangles of all chunks.
fn triangles(n: [u32; 2], chunks: &[Chunk]) -> Vec<[[u32; 2]; 3]> {
    let of = |chunk: &Chunk| terrain_triangles(n, chunk.first, chunk.stride, chunk.coarser);
    let has_area = |[a, b, c]: &[[u32; 2]; 3]| {
        let [u, v] = [b, c].map(|p| [0, 1].map(|axis| i64::from(p[axis]) - i64::from(a[axis])));
        u[0] * v[1] != u[1] * v[0]
    };
    chunks.iter().flat_map(of).filter(has_area).collect()
}

fn strides(chunks: &[Chunk]) -> Vec<u32> {
    let mut strides: Vec<u32> = chunks.iter().map(|chunk| chunk.stride).collect();
    strides.sort_unstable();
    strides.dedup();
    strides
}

#[test]
fn level_0_is_the_heights_themselves() {
    let studio = Studio::new(64, 64);
    for n in [[2, 2], [2, 33], [33, 33], [34, 32], [65, 40], [100, 3]] {
        let terrain =
            Terrain::new(&studio.device, n[0] as usize, 2.0, &rough(n, 1.0)).unwrap().with_error_px(0.0);
        let mut camera = OrbitCamera { up_axis: UpAxis::Z, elevation_deg: 60.0, ..OrbitCamera::default() };
        camera.frame_box(vec3(0.0, 0.0, -40.0), vec3(2.0 * n[0] as f32, 2.0 * n[1] as f32, 40.0), 1.0);
        let chunks = terrain.chunks(&camera, 64, 64);
        assert_eq!(strides(&chunks), [1], "{n:?}");
        let found = triangles(n, &chunks);
        assert_eq!(found.len() as u32, 2 * (n[0] - 1) * (n[1] - 1), "{n:?}: two triangles a cell");
        let mut cells: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for [a, b, c] in found {
            let lowest = [0, 1].map(|axis| a[axis].min(b[axis]).min(c[axis]));
            assert!([a, b, c].iter().all(|p| p[0] <= lowest[0] + 1 && p[1] <= lowest[1] + 1));
            *cells.entry(lowest).or_default() += 1;
        }
        assert!(cells.values().all(|n| *n == 2), "{n:?}");
    }
    studio.check();
}

/// Each inner edge has a triangle on both sides, whatever their levels, and edges with one triangle are the
/// map's border.
#[test]
fn chunks_of_all_levels_meet_without_cracks() {
    let studio = Studio::new(64, 64);
    let mut n_levels = 0;
    for (n, error_px) in [([513, 513], 2.0), ([300, 411], 4.0), ([513, 290], 8.0), ([257, 257], 3.0)] {
        let heights = rough(n, 0.4);
        let terrain =
            Terrain::new(&studio.device, n[0] as usize, 1.0, &heights).unwrap().with_error_px(error_px);
        let camera = from_the_corner(n[0].max(n[1]) as f32);
        let chunks = terrain.chunks(&camera, 640, 640);
        assert!(strides(&chunks).len() >= 2, "{n:?}: levels {:?}", strides(&chunks));
        n_levels = n_levels.max(strides(&chunks).len());
        let mut edges: BTreeMap<[[u32; 2]; 2], i32> = BTreeMap::new();
        for [a, b, c] in triangles(n, &chunks) {
            for [from, to] in [[a, b], [b, c], [c, a]] {
                assert_ne!(from, to);
                *edges.entry([from, to]).or_default() += 1;
            }
        }
        for ([from, to], count) in &edges {
            assert_eq!(*count, 1, "{n:?}: {from:?}–{to:?} twice in one direction");
            let on_border =
                (0..2).any(|axis| from[axis] == to[axis] && (from[axis] == 0 || from[axis] == n[axis] - 1));
            assert!(
                on_border != edges.contains_key(&[*to, *from]),
                "{n:?}: {from:?}–{to:?} has a crack beside it, or goes on past the border"
            );
        }
    }
    assert!(n_levels >= 3, "{n_levels} levels at most");
    studio.check();
}

/// Checks the definition: at every height, the drawn and the exact position are projected and compared.
#[test]
fn no_height_is_farther_from_its_place_than_the_bound() {
    let studio = Studio::new(64, 64);
    for (n, error_px, steepness) in
        [([513, 513], 2.0, 0.4), ([300, 411], 1.0, 0.4), ([513, 257], 6.0, 2.0), ([400, 400], 0.5, 0.05)]
    {
        let heights = rough(n, steepness);
        let terrain =
            Terrain::new(&studio.device, n[0] as usize, 1.0, &heights).unwrap().with_error_px(error_px);
        let camera = from_the_corner(n[0].max(n[1]) as f32);
        for camera in [camera, OrbitCamera { projection: Projection::Orthographic, ..camera }] {
            let chunks = terrain.chunks(&camera, 640, 640);
            let height = |p: [u32; 2]| heights[(p[1] * n[0] + p[0]) as usize];
            let (mut worst_px, mut n_compared) = (0.0_f32, 0);
            for [a, b, c] in triangles(n, &chunks) {
                let corners = [a, b, c].map(|p| vec3(p[0] as f32, p[1] as f32, height(p)));
                let [u, v] = [corners[1] - corners[0], corners[2] - corners[0]];
                let normal = u.cross(v);
                let range = |axis: usize| {
                    let of = [a, b, c].map(|p| p[axis]);
                    of[0].min(of[1]).min(of[2])..=of[0].max(of[1]).max(of[2])
                };
                for y in range(1) {
                    for x in range(0) {
                        let at = vec3(x as f32, y as f32, 0.0);
                        let side = |p: Vec3, q: Vec3| (q - p).truncate().perp_dot((at - p).truncate());
                        if side(corners[0], corners[1]) < 0.0
                            || side(corners[1], corners[2]) < 0.0
                            || side(corners[2], corners[0]) < 0.0
                        {
                            continue;
                        }
                        let drawn = corners[0].z
                            - ((at.x - corners[0].x) * normal.x + (at.y - corners[0].y) * normal.y)
                                / normal.z;
                        let [Some((drawn, _)), Some((there, _))] =
                            [drawn, height([x, y])].map(|z| camera.project(at.with_z(z), 640, 640))
                        else {
                            continue;
                        };
                        let inside = |p: f32| (0.0..640.0).contains(&p);
                        if inside(there.x) && inside(there.y) {
                            n_compared += 1;
                            worst_px = worst_px.max((drawn - there).length());
                        }
                    }
                }
            }
            assert!(n_compared > 10_000, "{n_compared} heights compared");
            assert!(worst_px <= error_px * 1.001, "{n:?}: {worst_px} px off, where {error_px} are allowed");
            // The bound is not so conservative that nothing is ever coarse.
            assert!(worst_px > 0.02 * error_px, "{n:?}: {worst_px} px of {error_px} allowed");
        }
    }
    studio.check();
}

/// A plane is flat at any level: it needs few chunks, and is drawn completely.
#[test]
fn a_plane_is_drawn_in_one_chunk() {
    let studio = Studio::new(64, 64);
    let n = [513, 513];
    let plane: Vec<f32> =
        (0..n[1]).flat_map(|y| (0..n[0]).map(move |x| 0.25 * x as f32 + 0.5 * y as f32)).collect();
    let terrain = Terrain::new(&studio.device, 513, 1.0, &plane).unwrap();
    let chunks = terrain.chunks(&from_the_corner(513.0), 640, 640);
    assert_eq!(chunks, [Chunk { first: [0, 0], stride: 16, coarser: 0 }]);
    studio.check();
}

/// Holes are drawn as holes: no chunk that spans one is coarse, and no cell beside an unknown height is
/// drawn.
#[test]
fn unknown_heights_leave_their_cells_open() {
    let mut studio = Studio::new(256, 256);
    let n = [129, 129];
    let mut heights = vec![0.0; 129 * 129];
    for y in 40..60 {
        heights[y * 129 + 50..y * 129 + 80].fill(f32::NAN);
    }
    let terrain = Terrain::new(&studio.device, 129, 1.0, &heights).unwrap();
    let camera = OrbitCamera {
        target: vec3(64.0, 64.0, 0.0),
        elevation_deg: 89.0,
        azimuth_deg: 0.0,
        distance_m: 220.0,
        up_axis: UpAxis::Z,
        projection: Projection::Orthographic,
        ..OrbitCamera::default()
    };
    let chunks = terrain.chunks(&camera, 256, 256);
    assert!(strides(&chunks).contains(&1) && strides(&chunks).len() > 1, "{:?}", strides(&chunks));
    let picture = studio.draw(&Frame {
        camera,
        background: [1.0, 0.0, 1.0],
        terrain: Some(&terrain),
        ..Frame::default()
    });
    let mut seen = [0; 2];
    for y in 0..n[1] - 1 {
        for x in 0..n[0] - 1 {
            let (pixel, _) = camera.project(vec3(x as f32 + 0.5, y as f32 + 0.5, 0.0), 256, 256).unwrap();
            let known = ![[0, 0], [1, 0], [0, 1], [1, 1]]
                .iter()
                .any(|[i, j]| heights[((y + j) * 129 + x + i) as usize].is_nan());
            let is_open = picture.at(pixel.x as u32, pixel.y as u32) == [255, 0, 255];
            assert_eq!(is_open, !known, "cell {x}, {y}");
            seen[usize::from(known)] += 1;
        }
    }
    assert!(seen[0] > 500 && seen[1] > 10_000, "{seen:?}");
    studio.check();
}

/// A picture with level of detail differs from the one of every height by at most the bound at silhouettes,
/// and shows no background inside.
#[test]
fn pictures_of_coarse_chunks_show_no_background_through_cracks() {
    let mut studio = Studio::new(320, 320);
    let n = [513, 513];
    let heights = rough(n, 0.4);
    let camera = from_the_corner(513.0);
    let mut draw = |error_px: f32| {
        let terrain = Terrain::new(&studio.device, 513, 1.0, &heights).unwrap().with_error_px(error_px);
        let chunks = terrain.chunks(&camera, 320, 320);
        let picture = studio.draw(&Frame {
            camera,
            background: [1.0, 0.0, 1.0],
            terrain: Some(&terrain),
            ..Frame::default()
        });
        (chunks.len(), picture)
    };
    let (n_fine, fine) = draw(0.0);
    let (n_coarse, coarse) = draw(1.5);
    assert!(4 * n_coarse < n_fine, "{n_coarse} chunks, {n_fine} of all heights");
    let is_empty = |picture: &studio::Picture, x: u32, y: u32| picture.at(x, y) == [255, 0, 255];
    let mut n_drawn = 0;
    for y in 3..317 {
        for x in 3..317 {
            let around = (y - 3..=y + 3).flat_map(|b| (x - 3..=x + 3).map(move |a| (a, b)));
            if around.into_iter().all(|(a, b)| !is_empty(&fine, a, b)) {
                assert!(!is_empty(&coarse, x, y), "background at {x}, {y}");
                n_drawn += 1;
            }
        }
    }
    assert!(n_drawn > 8_000, "{n_drawn} pixels inside");
    studio.check();
}

/// Repeats the check with allowed errors of many pixels, so that a crack would be many pixels wide: seen from
/// above, a ray through a crack continues below the ground and hits nothing. The four views cover cracks in
/// each edge of a chunk.
#[test]
fn no_line_of_sight_passes_through_an_edge_between_levels() {
    let mut studio = Studio::new(320, 320);
    let n = [385, 385];
    let heights = rough(n, 0.7);
    let terrain = Terrain::new(&studio.device, 385, 1.0, &heights).unwrap().with_error_px(5.0);
    let mut n_edges = 0;
    for side in 0..8_u8 {
        let camera = OrbitCamera {
            target: vec3(192.0, 192.0, 0.0),
            distance_m: 250.0,
            azimuth_deg: 45.0 * f32::from(side),
            elevation_deg: 38.0,
            vertical_fov_deg: 70.0,
            up_axis: UpAxis::Z,
            ..OrbitCamera::default()
        };
        let chunks = terrain.chunks(&camera, 320, 320);
        n_edges += chunks.iter().map(|chunk| chunk.coarser.count_ones()).sum::<u32>();
        let frame =
            Frame { camera, background: [1.0, 0.0, 1.0], terrain: Some(&terrain), ..Frame::default() };
        let picture = studio.draw(&frame);
        for y in 40..345 {
            for x in 40..345 {
                let height = heights[y * 385 + x];
                if let Some((pixel, _)) = camera.project(vec3(x as f32, y as f32, height), 320, 320)
                    && (0.0..320.0).contains(&pixel.x)
                    && (0.0..320.0).contains(&pixel.y)
                {
                    let found = picture.at(pixel.x as u32, pixel.y as u32);
                    assert_ne!(found, [255, 0, 255], "from side {side}, over {x}, {y}");
                }
            }
        }
    }
    assert!(n_edges > 30, "{n_edges} edges between levels");
    studio.check();
}

fn assert_near(found: [u8; 3], light: Vec3, what: &str) {
    let expected = 255.0 * display(light);
    let off = Vec3::from_array(found.map(f32::from)) - expected;
    assert!(off.abs().max_element() <= 2.0, "{what}: found {found:?}, expected {expected}");
}

/// The colour of a plane follows from its normal, and its attenuation by fog from its distance.
#[test]
fn a_plane_of_known_normal_has_its_shade_and_fog_its_exponential() {
    let mut studio = Studio::new(64, 64);
    for slope in [0.0_f32, 0.3, 0.6] {
        let heights: Vec<f32> = (0..9).flat_map(|_| (0..9).map(|x| slope * x as f32)).collect();
        let terrain = Terrain::new(&studio.device, 9, 1.0, &heights).unwrap();
        let normal = vec3(-slope, 0.0, 1.0).normalize();
        let light = Light { fog_color: [0.3, 0.5, 0.8], ..Light::from_sun(UpAxis::Z, 200.0, 40.0) };
        let mut drawn = |light: Light, distance_m: f32| {
            let camera = OrbitCamera {
                target: vec3(4.1, 4.2, slope * 4.1),
                distance_m,
                elevation_deg: 80.0,
                up_axis: UpAxis::Z,
                ..OrbitCamera::default()
            };
            studio.draw(&Frame { camera, terrain: Some(&terrain), light, ..Frame::default() }).at(32, 32)
        };
        let clear = drawn(light, 10.0);
        // Slopes of up to 42° keep all their snow: their colour is that of a height between the minimum and
        // the maximum.
        let share = if slope == 0.0 { 0.0 } else { 4.1 / 8.0 };
        let albedo = vec3(0.79, 0.82, 0.86).lerp(vec3(0.87, 0.89, 0.92), share);
        let ambient = vec3(0.14, 0.16, 0.19).lerp(vec3(0.24, 0.31, 0.43), 0.5 + 0.5 * normal.z);
        let lit = ambient + normal.dot(light.to_sun).max(0.0) * vec3(0.98, 0.92, 0.82);
        let expected = (linear(albedo) * lit).min(Vec3::ONE);
        assert_near(clear, expected, &format!("slope {slope}"));
        for (fog_per_m, distance_m) in [(0.01, 10.0), (0.01, 100.0), (0.05, 20.0), (0.02, 60.0)] {
            let through = drawn(Light { fog_per_m, ..light }, distance_m);
            let arrives = (-fog_per_m * distance_m).exp();
            let expected = linear(vec3(0.3, 0.5, 0.8)).lerp(expected, arrives);
            assert_near(through, expected, &format!("{fog_per_m}/m, {distance_m} m"));
        }
    }
    studio.check();
}

#[test]
fn non_terrains_are_refused() {
    let studio = Studio::new(16, 16);
    for (columns, cell_m, n, said) in [
        (1, 1.0, 9, "9 heights in rows of 1"),
        (4, 1.0, 4, "4 heights in rows of 4"),
        (4, 1.0, 9, "9 heights in rows of 4"),
        (0, 1.0, 0, "0 heights in rows of 0"),
        (3, 0.0, 9, "heights 0 m apart"),
        (3, f32::NAN, 9, "heights NaN m apart"),
    ] {
        let refused = Terrain::new(&studio.device, columns, cell_m, &vec![0.0; n]).err().unwrap().to_string();
        assert!(refused.contains(said), "{refused}");
    }
    studio.check();
}
