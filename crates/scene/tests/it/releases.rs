//! Tests of the sampling of release areas, random packings and slabs.

use std::f64::consts::PI;
use std::fs;

use frazil_scene::{Polygon, Scene};
use proptest::prelude::*;

use crate::dem::{grains, slope};

/// Returns the deepest overlap of two grains, in radii of the first, by comparing all pairs.
fn deepest_overlap(positions_m: &[[f32; 3]], radii_m: &[f32]) -> f64 {
    let mut deepest = f64::NEG_INFINITY;
    for (b, second) in positions_m.iter().enumerate() {
        for (a, first) in positions_m[..b].iter().enumerate() {
            let square: f64 = (0..3).map(|i| f64::from(first[i] - second[i]).powi(2)).sum();
            let sum = f64::from(radii_m[a]) + f64::from(radii_m[b]);
            deepest = deepest.max((sum - square.sqrt()) / f64::from(radii_m[a]));
        }
    }
    deepest
}

/// Returns the distance of a point from the nearest edge of a closed ring.
fn from_outline(ring: &[[f64; 2]], point: [f64; 2]) -> f64 {
    let edges = ring.iter().zip(ring.iter().cycle().skip(1));
    let distance = |(a, b): (&[f64; 2], &[f64; 2])| {
        let (edge, offset) = ([b[0] - a[0], b[1] - a[1]], [point[0] - a[0], point[1] - a[1]]);
        let share = (offset[0] * edge[0] + offset[1] * edge[1]) / (edge[0] * edge[0] + edge[1] * edge[1]);
        let share = share.clamp(0.0, 1.0);
        (offset[0] - share * edge[0]).hypot(offset[1] - share * edge[1])
    };
    edges.map(distance).fold(f64::INFINITY, f64::min)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Grains of a release are above the terrain, within the area's outline, free of overlaps, and have the
    /// mass of its snow.
    #[test]
    fn releases_fill_their_area(
        shares in prop::collection::vec((0.45..1.0_f64, 0.0..1.0_f64), 5),
        slope_deg in 0.0..45.0_f64,
        thickness_m in 0.3..1.2_f64,
        share in 0.2..0.7_f64,
        spread in 0.0..0.2_f64,
        jitter in 0.0..1.0_f64,
        seed in 0..1000_u32,
        is_rough in any::<bool>(),
    ) {
        let corners: Vec<[f64; 2]> = shares
            .iter()
            .enumerate()
            .map(|(k, (r, turn))| {
                let angle = 2.0 * PI * (k as f64 + 0.4 * turn) / shares.len() as f64;
                [10.0 + 3.0 * r * angle.cos(), 5.0 + 3.0 * r * angle.sin()]
            })
            .collect();
        let terrain = if is_rough {
            format!("terrain={{generated={{fractal={{size_m=[20,10],cell_m=1,slope_deg={slope_deg},relief_m=1.5,wavelength_m=8}}}}}}")
        } else {
            format!("terrain={{generated={{inclined_plane={{size_m=[20,10],cell_m=1,slope_deg={slope_deg}}}}}}}")
        };
        let polygon = format!("dem.releases=[{{polygon_m={corners:?},thickness_m={thickness_m},jitter={jitter},velocity_m_s=[1,2,3]}}]");
        let bulk = share * 1000.0 * (1.0 + spread * spread) / (1.0 + spread).powi(3);
        let scene = slope(&[
            &terrain,
            "domain={min_m=[0,0,-4],max_m=[20,10,30]}",
            &polygon,
            "dem.radius_m=0.11",
            &format!("dem.radius_spread={spread}"),
            &format!("dem.releases.0.bulk_density_kg_m3={bulk}"),
            &format!("seed={seed}"),
        ]);
        let scene = scene.map_err(|e| TestCaseError::fail(e.to_string()))?;
        let sampled = scene.sample().map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert!(deepest_overlap(&sampled.positions_m, &sampled.radii_m) < 1e-4);
        let (terrain, polygon) = (scene.ground().unwrap(), Polygon { rings: vec![corners] });
        let margin = 0.11 * ((0.74048 / share).cbrt() * (1.0 + spread) - 1.0).max(0.0) + 0.12;
        for (position, radius) in sampled.positions_m.iter().zip(&sampled.radii_m) {
            let at = position.map(f64::from);
            let distance = terrain.distance_m(at).unwrap();
            prop_assert!(distance > f64::from(*radius), "{:?} at {} of {}", at, distance, radius);
            // On curved ground, moving a grain changes the height below it.
            let top = thickness_m + 0.11 * (1.0 + spread) * 1.01 + margin;
            prop_assert!(is_rough || distance < top, "{:?} at {}", at, distance);
            // Jitter moves grains past the outline by less than their distance.
            let place = [at[0], at[1]];
            prop_assert!(polygon.contains(place) || from_outline(&polygon.rings[0], place) < margin, "{:?}", at);
        }
        prop_assert!(sampled.velocities_m_s.iter().all(|v| *v == [1.0, 2.0, 3.0]));
        let mass_kg: f64 = sampled.masses_kg.iter().map(|m| f64::from(*m)).sum();
        let estimate = scene.particle_count_estimate() as f64;
        prop_assert!((sampled.len() as f64 / estimate - 1.0).abs() < 0.2, "{} of {}", sampled.len(), estimate);
        if !is_rough {
            let snow_kg = bulk * polygon.area() / slope_deg.to_radians().cos() * thickness_m;
            prop_assert!((mass_kg / snow_kg - 1.0).abs() < 0.2, "{} of {} kg", mass_kg, snow_kg);
        }
        let again = scene.sample().unwrap();
        prop_assert_eq!(again, sampled);
    }
}

/// A release that is large compared with its grains has the mass of its snow.
#[test]
fn a_large_release_has_the_mass_of_its_snow() {
    let scene = slope(&["dem.radius_m=0.03", "dem.releases.0.bulk_density_kg_m3=400"]).unwrap();
    let sampled = scene.sample().unwrap();
    let mass_kg: f64 = sampled.masses_kg.iter().map(|m| f64::from(*m)).sum();
    let snow_kg = 400.0 * 16.0 / 30.0_f64.to_radians().cos() * 0.5;
    assert!((mass_kg / snow_kg - 1.0).abs() < 0.02, "{mass_kg} of {snow_kg} kg of {} grains", sampled.len());
    assert!((sampled.len() as f64 / scene.particle_count_estimate() as f64 - 1.0).abs() < 0.02);
}

/// Areas of two releases with a common edge are filled as one: no grains overlap, and none are missing.
#[test]
fn releases_with_a_common_edge_share_a_lattice() {
    let area = |from: f64, to: f64, more: &str| {
        format!("{{polygon_m=[[{from},3],[{to},3],[{to},6],[{from},6]],thickness_m=0.5{more}}}")
    };
    let sampled = |releases: &[String]| {
        let releases = format!("dem.releases=[{}]", releases.join(","));
        slope(&["dem.radius_m=0.08", &releases]).and_then(|scene| scene.sample())
    };
    let moving = ",jitter=0.5,velocity_m_s=[1,0,0]";
    let both = sampled(&[area(4.0, 5.7, ""), area(5.7, 8.0, moving)]).unwrap();
    let one = sampled(&[area(4.0, 8.0, "")]).unwrap();
    assert!(deepest_overlap(&both.positions_m, &both.radii_m) < 1e-4);
    assert!((both.len() as f64 / one.len() as f64 - 1.0).abs() < 0.02, "{} of {}", both.len(), one.len());
    let [first, second] = [both.block_ends[0], both.block_ends[1]];
    assert!(first > 50 && second > first + 50 && second == both.len());
    assert!(both.velocities_m_s[..first].iter().all(|v| *v == [0.0; 3]));
    assert!(both.velocities_m_s[first..].iter().all(|v| *v == [1.0, 0.0, 0.0]));
    let twice = sampled(&[area(4.0, 6.0, ""), area(4.5, 8.0, "")]).unwrap_err().to_string();
    assert!(twice.contains("dem.releases.1: found") && twice.contains("in an earlier polygon"), "{twice}");

    // Of another density, each has a lattice of its own: up to a grain's diameter along the edge is left out.
    let bulk = |density: f64| format!(",bulk_density_kg_m3={density}");
    let apart = [area(4.0, 5.7, &bulk(270.0)), area(5.7, 8.0, &bulk(220.0))];
    let beside = sampled(&apart).unwrap();
    assert!(deepest_overlap(&beside.positions_m, &beside.radii_m) < 1e-4);
    let alone: usize = apart.iter().map(|area| sampled(std::slice::from_ref(area)).unwrap().len()).sum();
    let kept = beside.len() as f64 / alone as f64;
    assert!((1.0 - 0.16 / 2.3..=1.0).contains(&kept), "{} of {alone}", beside.len());
    let twice =
        sampled(&[area(4.0, 6.0, &bulk(270.0)), area(4.5, 8.0, &bulk(220.0))]).unwrap_err().to_string();
    assert!(twice.contains("dem.releases.1: found") && twice.contains("in an earlier polygon"), "{twice}");
}

#[test]
fn a_random_packing_has_the_requested_density() {
    let sets = [
        "particles.0.fill=random",
        "particles.0.shape.box.max_m=[0.9,0.9,0.9]",
        "dem.radius_spread=0.2",
        "dem.radius_m=0.03",
    ];
    let scene = grains(&sets).unwrap();
    let sampled = scene.sample().unwrap();
    assert_eq!(sampled.len() as u64, scene.particle_count_estimate());
    assert!(deepest_overlap(&sampled.positions_m, &sampled.radii_m) < 0.0);
    let volume_m3: f64 = sampled.radii_m.iter().map(|r| 4.0 / 3.0 * PI * f64::from(*r).powi(3)).sum();
    assert!((volume_m3 / 0.343 / 0.55 - 1.0).abs() < 0.02, "{}", volume_m3 / 0.343);
    for (position, radius) in sampled.positions_m.iter().zip(&sampled.radii_m) {
        assert!((0..3).all(|i| position[i] - radius >= 0.2 - 1e-6 && position[i] + radius <= 0.9 + 1e-6));
    }
    assert!(sampled.radii_m.iter().all(|r| (0.024..=0.036).contains(r)));
    assert_eq!(scene.sample().unwrap(), sampled);
    let other = grains(&[&sets[..], &["seed=1"]].concat()).unwrap().sample().unwrap();
    assert_ne!(other.positions_m, sampled.positions_m);
}

fn plate(more: &str, sets: &[&str]) -> Scene {
    let slab = format!(
        "dem.slabs=[{{name='ice',density_kg_m3=900,link_strength_pa=1000,link_shear_strength_pa=500,velocity_m_s=[1,0,0],shape={{plate={{origin_m=[9,3],size_m=[4,3],thickness_m=0.5,pieces=[4,3]{more}}}}}}}]"
    );
    slope(&[&[slab.as_str()], sets].concat()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_plate_on_a_plane_is_cut_into_boxes() {
    let scene = plate("", &[]);
    let slabs = scene.sample_slabs().unwrap();
    assert_eq!((slabs.pieces.len(), slabs.links.len()), (12, 3 * 3 + 4 * 2));
    let (sin, cos) = 30.0_f64.to_radians().sin_cos();
    for piece in &slabs.pieces {
        assert!((piece.volume_m3 - 0.5).abs() < 1e-9 && (piece.mass_kg - 450.0).abs() < 1e-6);
        // A box of 1 m by 1 m by 0.5 m, rotated by 30° about y.
        let [long, high] = [450.0 / 12.0 * (1.0 + 0.25), 450.0 / 12.0 * 2.0];
        let expected = [
            [long * cos * cos + high * sin * sin, 0.0, (high - long) * sin * cos],
            [0.0, long, 0.0],
            [(high - long) * sin * cos, 0.0, long * sin * sin + high * cos * cos],
        ];
        for (row, expected) in piece.inertia_kg_m2.iter().zip(expected) {
            for (found, expected) in row.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{:?}", piece.inertia_kg_m2);
            }
        }
        let planes = piece.planes();
        assert!(planes.iter().all(|(_, offset)| (offset - 0.5).abs() < 1e-9 || (offset - 0.25).abs() < 1e-9));
        assert!((piece.distance_m(&planes, piece.centre_m) + 0.25).abs() < 1e-9);
        assert_eq!(piece.velocity_m_s, [1.0, 0.0, 0.0]);
    }
    for link in &slabs.links {
        assert!((link.area_m2 - 0.5).abs() < 1e-9 && (link.strength_n - 500.0).abs() < 1e-6);
        assert!((link.shear_strength_n - 250.0).abs() < 1e-6);
        let [a, b] = link.pieces.map(|piece| slabs.pieces[piece].centre_m);
        for i in 0..3 {
            assert!((link.point_m[i] - 0.5 * (a[i] + b[i])).abs() < 1e-9);
            assert!((link.normal[i] - (b[i] - a[i])).abs() < 1e-9, "{link:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// For any slope and any number of pieces: pieces are convex, fill the plate, lie above the terrain, and
    /// share the faces of their links.
    #[test]
    fn pieces_fill_the_plate(irregularity in 0.0..0.2_f64, rotation in -180.0..180.0_f64, seed in 0..100_u32, is_rough in any::<bool>()) {
        let rough = "terrain={generated={fractal={size_m=[20,10],cell_m=0.5,slope_deg=30,relief_m=0.8,wavelength_m=6}}}";
        let sets = [
            format!("seed={seed}"),
            if is_rough { rough.to_owned() } else { "name=plane".to_owned() },
            "domain={min_m=[0,0,-4],max_m=[20,10,20]}".to_owned(),
        "dem.slabs.0.shape.plate.size_m=[3.2,2.4]".to_owned(),
            "dem.slabs.0.shape.plate.origin_m=[10,5]".to_owned(),
            "dem.releases.0.polygon_m=[[0.5,0.5],[1.5,0.5],[1,1.5]]".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let scene = plate(&format!(",irregularity={irregularity},rotation_deg={rotation}"), &sets);
        let slabs = scene.sample_slabs().unwrap();
        let volume: f64 = slabs.pieces.iter().map(|piece| piece.volume_m3).sum();
        prop_assert!((volume / 3.84 - 1.0).abs() < 1e-9, "{}", volume);
        let terrain = scene.ground().unwrap();
        for piece in &slabs.pieces {
            let planes = piece.planes();
            for corner in &piece.vertices_m {
                let at = std::array::from_fn(|i| piece.centre_m[i] + corner[i]);
                prop_assert!(piece.distance_m(&planes, at) < 1e-9);
                prop_assert!(at[2] > terrain.height_m([at[0], at[1]]).unwrap());
            }
        }
        for link in &slabs.links {
            for piece in link.pieces {
                let piece = &slabs.pieces[piece];
                prop_assert!(piece.distance_m(&piece.planes(), link.point_m).abs() < 1e-9);
            }
        }
        // The lowest point nearly touches: within the clearance and the terrain's variation between points.
        let gap = slabs.pieces.iter().flat_map(|p| p.vertices_m.iter().map(move |v| std::array::from_fn(|i| p.centre_m[i] + v[i])))
            .map(|at: [f64; 3]| terrain.distance_m(at).unwrap()).fold(f64::INFINITY, f64::min);
        prop_assert!(gap > 0.0 && (is_rough || gap < 1.1e-3), "{}", gap);
    }
}

/// Two unit cubes side by side, and one that is dented.
#[test]
fn meshes_are_pieces_that_are_linked_where_they_meet() {
    let directory = tempfile::tempdir().unwrap();
    let cube = |x: f64, dent: f64, first: usize| {
        let mut text = String::new();
        for k in 0..8 {
            let [i, j, l] = [k & 1, k >> 1 & 1, k >> 2].map(|i| i as f64);
            let z = if k == 7 { l - dent } else { l };
            text += &format!("v {} {j} {z}\n", x + i);
        }
        for face in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
            let [a, b, c, d] = face.map(|v| v + first + 1);
            text += &format!("f {a} {b} {c}\nf {a} {c} {d}\n");
        }
        text
    };
    let write = |name: &str, text: String| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let slab = |paths: &[String]| {
        let slab = format!(
            "dem.slabs=[{{name='ice',density_kg_m3=900,link_strength_pa=10,shape={{meshes={{paths={paths:?},scale=2,offset_m=[12,4,11]}}}}}}]"
        );
        slope(&["domain.max_m.2=20", &slab])
    };
    let apart = write("apart.obj", cube(0.0, 0.0, 0) + &cube(3.0, 0.0, 8));
    let beside = write("beside.obj", cube(1.0, 0.0, 0));
    let scene = slab(&[apart.clone(), beside]).unwrap();
    let slabs = scene.sample_slabs().unwrap();
    assert_eq!(slabs.pieces.len(), 3);
    let centres: Vec<_> =
        slabs.pieces.iter().map(|piece| piece.centre_m.map(|x| (x * 1e6).round() / 1e6)).collect();
    assert_eq!(centres, [[13.0, 5.0, 12.0], [19.0, 5.0, 12.0], [15.0, 5.0, 12.0]]);
    for piece in &slabs.pieces {
        assert!(
            (piece.volume_m3 - 8.0).abs() < 1e-9
                && (piece.inertia_kg_m2[1][1] - 7200.0 * 4.0 / 6.0).abs() < 1e-6
        );
    }
    // Only the first and the third share a face.
    let [link] = &slabs.links[..] else { panic!("{} links", slabs.links.len()) };
    assert_eq!((link.pieces, link.normal), ([0, 2], [1.0, 0.0, 0.0]));
    assert!((link.area_m2 - 4.0).abs() < 1e-9 && (link.strength_n - 40.0).abs() < 1e-9);
    assert_eq!(link.point_m.map(|x| (x * 1e6).round() / 1e6), [14.0, 5.0, 12.0]);

    let dented =
        slab(&[write("dented.obj", cube(0.0, 0.5, 0))]).unwrap().sample_slabs().unwrap_err().to_string();
    assert!(
        dented.contains("dented.obj: a hollow: the corner at") && dented.contains("that are convex"),
        "{dented}"
    );
    let open = cube(0.0, 0.0, 0).lines().take(19).map(|line| format!("{line}\n")).collect();
    let open = slab(&[write("open.obj", open)]).unwrap_err().to_string();
    assert!(open.contains("open.obj: an open edge from") && open.contains("of a closed surface"), "{open}");
    let low = format!("dem.slabs=[{{name='ice',shape={{meshes={{paths=[{apart:?}],offset_m=[18,4,11]}}}}}}]");
    let error = slope(&[&low]).unwrap().sample_slabs().unwrap_err().to_string();
    assert!(error.contains("expected pieces inside the domain"), "{error}");

    let crossing = write("crossing.obj", cube(0.4, 0.0, 0));
    let error = slab(&[apart.clone(), crossing]).unwrap().sample_slabs().unwrap_err().to_string();
    assert!(error.contains("a piece in another, of dem.slabs.0, at ["), "{error}");
    assert!(error.contains("expected pieces side by side"), "{error}");
    let placed = |offset: &str, more: &[&str]| {
        let slab =
            format!("dem.slabs=[{{name='ice',shape={{meshes={{paths=[{apart:?}],offset_m={offset}}}}}}}]");
        let all = [&["domain.max_m.2=20", slab.as_str()], more].concat();
        slope(&all).unwrap().sample_slabs().map_err(|error| error.to_string())
    };
    placed("[12,4,11]", &[]).unwrap();
    let buried = placed("[12,4,0]", &[]).unwrap_err();
    assert!(
        buried.contains("a piece in the ground at [") && buried.contains("above the terrain"),
        "{buried}"
    );
    let house = "bodies=[{name='house',shape={box={centre_m=[12.9,4.9,11.9],size_m=[1,1,1]}}}]";
    let hit = placed("[12,4,11]", &[house]).unwrap_err();
    assert!(hit.contains("a piece inside bodies.0, \"house\" at [13, 5, 12] m"), "{hit}");
    let ball = "bodies=[{shape={sphere={centre_m=[12.9,4.9,11.9],radius_m=0.5}}}]";
    let hit = placed("[12,4,11]", &[ball]).unwrap_err();
    assert!(hit.contains("a piece inside bodies.0 at ["), "{hit}");
    let ball = "bodies=[{name='ball',shape={sphere={centre_m=[12.9,4.9,11.9],radius_m=0.5}}}]";
    let hit = placed("[12,4,11]", &[ball]).unwrap_err();
    assert!(hit.contains("a piece inside bodies.0, \"ball\" at ["), "{hit}");
}

#[test]
fn a_plate_off_the_map_is_refused() {
    let error = plate(",rotation_deg=180", &["dem.slabs.0.shape.plate.origin_m=[2,9]"])
        .sample_slabs()
        .unwrap_err()
        .to_string();
    assert!(error.contains("found a plate off the map"), "{error}");
}

#[test]
fn grains_inside_a_slab_are_refused() {
    let error = plate("", &["dem.slabs.0.shape.plate.origin_m=[4,4]"]).sample().unwrap_err().to_string();
    assert!(error.contains("grains inside dem.slabs.0"), "{error}");
}
