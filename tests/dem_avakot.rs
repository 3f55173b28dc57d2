//! Grains on a real mountain side compared with a depth-averaged model: the peak thickness of com1DFA
//! (Voellmy friction) for AvaFrame's avaKot.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_io::affected_area_overlap;
use frazil_scene::{Scene, Terrain};
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::scene_grains::SceneGrains;
use std::path::{Path, PathBuf};

/// Returns the folder of the data, which is outside the project; prints a message if it is absent.
fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/terrain/avaKot");
    let is_there = folder.join("avaKot.asc").is_file();
    if !is_there {
        eprintln!("SKIPPED: {} is not there, and avaKot not compared with", folder.display());
    }
    is_there.then_some(folder)
}

/// Agreement of a flow with the model's.
#[derive(Debug)]
struct Agreement {
    /// Cells in which both are thicker than 0.1 m, divided by cells in which either is.
    overlap: f64,
    /// Share of the flow's cells that are also the model's: 1 for a flow that stays in the valley of the
    /// model's.
    within: f64,
    /// Height in m by which the flow's lowest cell is below the model's.
    lower_m: f64,
    /// Run-out beyond the model's in m, each measured horizontally from the highest to the lowest cell.
    farther_m: f64,
}

const THICK_M: f32 = 0.1;

/// Returns the maximum of each block of `side`² cells of a raster, with the width and height in blocks;
/// unknown for blocks without known cells.
fn blocks(values: &[f32], width: usize, side: usize) -> (Vec<f32>, usize) {
    let height = values.len() / width;
    let (across, along) = (width / side, height / side);
    let of = |block: usize| {
        let (column, row) = (block % across * side, block / across * side);
        let cells = (0..side * side).map(|k| values[(row + k / side) * width + column + k % side]);
        cells.fold(f32::NAN, f32::max)
    };
    ((0..across * along).map(of).collect(), across)
}

/// Compares a flow's peak thickness on its terrain with the model's on its own grid, in blocks of `side`²
/// cells.
fn compare(terrain: &Terrain, flow: &[f32], model: &Terrain, side: usize) -> Agreement {
    let (width, height) = (model.n_columns(), model.n_rows());
    // The flow is sampled at the model's cells: the nearest of its own cells, whose size is equal to 0.05 %.
    let at = |cell: usize| {
        let place = [cell % width, cell / width].map(|k| k as f64 * model.cell_m());
        let here = terrain.from_map_m(model.to_map_m(place)).map(|x| (x / terrain.cell_m()).round());
        let inside = here[0] >= 0.0
            && here[1] >= 0.0
            && (here[0] as usize) < terrain.n_columns()
            && (here[1] as usize) < terrain.n_rows();
        if inside { flow[here[1] as usize * terrain.n_columns() + here[0] as usize] } else { f32::NAN }
    };
    let ours: Vec<f32> = (0..width * height).map(at).collect();
    let theirs: Vec<f32> =
        model.map_heights_m().iter().map(|h| if h.is_nan() { 0.0 } else { *h as f32 }).collect();
    let (ours, across) = blocks(&ours, width, side);
    let (theirs, _) = blocks(&theirs, width, side);
    let block_m = side as f64 * model.cell_m();
    let (mut both, mut flow_alone) = (0.0, 0.0);
    for (a, b) in ours.iter().zip(&theirs).filter(|(a, _)| **a > THICK_M) {
        if *b > THICK_M && !a.is_nan() { both += 1.0 } else { flow_alone += 1.0 }
    }
    // Height and position of the highest and the lowest thick cell.
    let ends = |values: &[f32]| {
        let thick = values.iter().enumerate().filter(|(_, v)| **v > THICK_M);
        let mut places: Vec<[f64; 3]> = thick
            .filter_map(|(block, _)| {
                let on_map =
                    model.to_map_m([block % across, block / across].map(|k| (k as f64 + 0.5) * block_m));
                let [x, y] = terrain.from_map_m(on_map);
                Some([terrain.height_m([x, y])?, x, y])
            })
            .collect();
        places.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let (low, high) = (*places.first().unwrap(), *places.last().unwrap());
        (low[0], (high[1] - low[1]).hypot(high[2] - low[2]))
    };
    let (flow_ends, model_ends) = (ends(&ours), ends(&theirs));
    Agreement {
        overlap: affected_area_overlap(&ours, &theirs, THICK_M),
        within: both / (both + flow_alone),
        lower_m: model_ends.0 - flow_ends.0,
        farther_m: flow_ends.1 - model_ends.1,
    }
}

/// Runs the scene and compares it, and checks that no grain is below the ground in any frame; `None` without
/// the data.
fn agreement(overrides: &[&str], frames: u64, side: usize) -> Option<Agreement> {
    let data = data()?;
    let device = device();
    let overrides: Vec<String> = overrides.iter().map(|set| (*set).to_owned()).collect();
    let scene =
        Scene::load(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/avakot.toml"), &overrides).unwrap();
    let mut grains = SceneGrains::new(&device, scene);
    let dem = grains.scene.dem().cloned().unwrap();
    let terrain = grains.scene.ground().unwrap().clone();
    let steps = grains.steps(grains.scene.time.duration_s) / frames;
    let mut speed_m_s = 0.0;
    for frame in 0..=frames {
        if frame > 0 {
            speed_m_s = f64::max(speed_m_s, grains.advance(steps).all.speed_max_m_s);
        }
        let now = grains.grains();
        let (n_below, lowest_m) = grains.below_ground(&now);
        assert_eq!(n_below, 0, "frame {frame}: the lowest is {lowest_m} m above the ground");
    }
    assert_no_validation_messages(&device);
    let model =
        Terrain::from_ascii_grid(&std::fs::read_to_string(data.join("com1DFA_null_pft.asc")).unwrap())
            .unwrap();
    let agreement = compare(&terrain, &grains.flow_rasters().peak_thickness_m, &model, side);
    eprintln!(
        "{} grains of {} m, μ {} on grains and {} on the ground, μ_r {}: at most {speed_m_s:.1} m/s, {agreement:?}",
        grains.grains().len(),
        dem.radius_m,
        dem.friction,
        dem.wall_friction(),
        dem.rolling_friction,
    );
    Some(agreement)
}

/// Uses few grains of 2 m and blocks of 20 m. The short form requires that the flow follows the model's path;
/// the long form, which runs until the flow gets there, also that it ends at about the same place.
#[test]
fn a_flow_follows_the_path_of_the_depth_averaged_models() {
    let is_full = is_full_run();
    let (duration, frames) = if is_full { ("time.duration_s=60", 240) } else { ("time.duration_s=20", 80) };
    let coarse = ["dem.radius_m=2", "dem.normal_stiffness_n_m=2e7", duration];
    let Some(agreement) = agreement(&coarse, frames, 4) else { return };
    assert!(agreement.within > 0.8, "{agreement:?}");
    if is_full {
        assert!(agreement.overlap > 0.6, "{agreement:?}");
        assert!(agreement.lower_m.abs() < 50.0 && agreement.farther_m.abs() < 150.0, "{agreement:?}");
    }
}

/// Uses the model's own grid of 5 m and grains of 1 m.
#[test]
fn a_fine_flow_covers_the_area_of_the_depth_averaged_models() {
    if is_full_run() {
        let Some(agreement) = agreement(&[], 240, 1) else {
            return;
        };
        assert!(agreement.overlap > 0.6 && agreement.within > 0.7, "{agreement:?}");
        assert!(agreement.lower_m.abs() < 40.0 && agreement.farther_m.abs() < 150.0, "{agreement:?}");
    }
}
